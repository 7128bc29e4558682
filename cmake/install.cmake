# SPDX-License-Identifier: Apache-2.0
# The program, both libraries, the headers and tethys.pc.
include(GNUInstallDirs)
install(TARGETS tethys_static tethys_shared)
if(TARGET tethys_cli)
  install(TARGETS tethys_cli)
endif()
install(DIRECTORY include/tethys TYPE INCLUDE)
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tethys)

# What a program that links the static library has to add.
set(TETHYS_PC_PRIVATE "-lm -lpthread -lfyaml -lz")
if(TETHYS_HAVE_VDB)
  string(APPEND TETHYS_PC_PRIVATE " -lblosc -ldl")
endif()
if(TETHYS_HAVE_RENDER)
  string(APPEND TETHYS_PC_PRIVATE " -lembree3 -lspng")
endif()
file(RELATIVE_PATH TETHYS_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/tethys.pc.in tethys.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tethys.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
