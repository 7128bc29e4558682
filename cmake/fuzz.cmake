# SPDX-License-Identifier: Apache-2.0
# Every *_fuzz.c is a libFuzzer program of its own, build/fuzz/fuzzers/NAME, started from tests/corpus/NAME. Only with the
# preset `fuzz`; run by tools/fuzz.
file(GLOB_RECURSE fuzzers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_fuzz.c)
tethys_drop_unavailable(fuzzers)
add_custom_target(fuzzers)
foreach(fuzzer ${fuzzers})
  get_filename_component(name ${fuzzer} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  add_executable(fuzz_${name} ${fuzzer})
  target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src
                                                  ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(fuzz_${name} PRIVATE tethys_static)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
  add_dependencies(fuzzers fuzz_${name})
endforeach()
