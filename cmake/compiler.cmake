# SPDX-License-Identifier: Apache-2.0
# Warnings, floating point, instruction set.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Asserts stay on in release: a bug must stop, not write wrong frames.
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")

# No contraction: the same bits whatever the compiler inlines. -fno-math-errno changes no value.
add_compile_options(-ffp-contract=off -fno-math-errno)
add_compile_definitions(_GNU_SOURCE)

# x86-64-v3 (AVX2) where this machine has it; not "native": all such machines get the same instructions. (valgrind 3.19 does not know
# one of them, a move between registers: with -DTETHYS_PORTABLE=ON it does.)
if(NOT TETHYS_PORTABLE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
  if(cpu_flags MATCHES " avx2 " AND cpu_flags MATCHES " bmi2 " AND cpu_flags MATCHES " fma ")
    add_compile_options(-march=x86-64-v3)
    # Copies by whole vectors: in halves, a vector that is read soon after waits for both.
    include(CheckCCompilerFlag)
    check_c_compiler_flag("-mmove-max=256 -mstore-max=256" TETHYS_WHOLE_MOVES)
    if(TETHYS_WHOLE_MOVES)
      add_compile_options(-mmove-max=256 -mstore-max=256)
    endif()
  endif()
endif()

# Warnings are errors with the compiler we build releases with; clang, for the fuzzers, has opinions of its own.
function(tethys_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra $<$<C_COMPILER_ID:GNU>:-Werror> -Wshadow -Wstrict-prototypes -Wmissing-prototypes
      -Wpointer-arith -Wcast-align -Wvla -Wno-psabi>)
endfunction()
