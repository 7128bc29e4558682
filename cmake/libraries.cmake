# SPDX-License-Identifier: Apache-2.0
# Every library we lean on, and what it is for. The package names are in tools/packages.
set(TETHYS_LIBRARIES m Threads::Threads)
set(TETHYS_CLI_LIBRARIES)
set(TETHYS_CLI_INCLUDES)
set(TETHYS_HAVE "")
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# Scene files: YAML with the place of every mistake.
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
list(APPEND TETHYS_LIBRARIES PkgConfig::FYAML)

# Compressed .vtu files.
find_package(ZLIB REQUIRED)
list(APPEND TETHYS_LIBRARIES ZLIB::ZLIB)

# Volumes. C++: src/format/vdb_shim.cpp is the only file that sees it. It is a module that the library carries with it and loads
# when a volume is written: OpenVDB takes 30 MB of memory by being loaded.
if(TETHYS_VDB)
  find_path(OPENVDB_INCLUDE openvdb/openvdb.h)
  find_library(OPENVDB_LIBRARY openvdb)
  find_library(TBB_LIBRARY tbb)
  find_library(BLOSC_LIBRARY blosc)
  find_path(BLOSC_INCLUDE blosc.h)
  find_library(IMATH_LIBRARY Imath)    # OpenVDB's half floats, where the processor has none
  if(OPENVDB_INCLUDE AND OPENVDB_LIBRARY AND TBB_LIBRARY AND IMATH_LIBRARY AND BLOSC_LIBRARY
     AND BLOSC_INCLUDE)
    set(TETHYS_HAVE_VDB 1)
    set(TETHYS_VDB_LIBRARIES ${OPENVDB_LIBRARY} ${TBB_LIBRARY} ${IMATH_LIBRARY} ${BLOSC_LIBRARY})
    list(APPEND TETHYS_LIBRARIES ${BLOSC_LIBRARY} ${CMAKE_DL_LIBS})
  endif()
endif()

# Rays for pictures; PNG files.
if(TETHYS_RENDER)
  find_library(EMBREE_LIBRARY embree3)
  find_path(EMBREE_INCLUDE embree3/rtcore.h)
  pkg_check_modules(SPNG IMPORTED_TARGET spng)
  if(EMBREE_LIBRARY AND EMBREE_INCLUDE AND SPNG_FOUND)
    set(TETHYS_HAVE_RENDER 1)
    list(APPEND TETHYS_LIBRARIES ${EMBREE_LIBRARY} PkgConfig::SPNG)
  endif()
endif()

# A peer to compare our multigrid with, only in `tethys bench`.
if(TETHYS_HYPRE)
  find_package(MPI COMPONENTS C QUIET)
  find_path(HYPRE_INCLUDE HYPRE.h PATH_SUFFIXES hypre)
  find_library(HYPRE_LIBRARY HYPRE)
  if(MPI_C_FOUND AND HYPRE_INCLUDE AND HYPRE_LIBRARY)
    set(TETHYS_HAVE_HYPRE 1)
    list(APPEND TETHYS_CLI_LIBRARIES ${HYPRE_LIBRARY} MPI::MPI_C)
    list(APPEND TETHYS_CLI_INCLUDES ${HYPRE_INCLUDE})
  endif()
endif()

foreach(part VDB RENDER HYPRE)
  if(TETHYS_HAVE_${part})
    message(STATUS "Tethys: ${part} is in")
  else()
    message(STATUS "Tethys: ${part} is NOT in (library not found or turned off)")
  endif()
endforeach()

# Leaves out what needs a library that is not there.
function(tethys_drop_unavailable list)
  if(NOT TETHYS_HAVE_VDB)
    list(FILTER ${list} EXCLUDE REGEX "/src/format/vdb_module\\.c$")
  endif()
  if(NOT TETHYS_HAVE_RENDER)
    list(FILTER ${list} EXCLUDE REGEX "/src/render/")
  endif()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
