# SPDX-License-Identifier: GPL-2.0-or-later
# What only Debian packages need; cmake/deb/build configures, builds and packs. One package a component: program, plugin, library.
include(GNUInstallDirs)
set(RPCRDMA_MAINTAINER "rpcrdma-analyzer maintainers <maintainers@rpcrdma-analyzer.invalid>" CACHE STRING
    "Who answers for the packages: name and address")
set(RPCRDMA_DEB_REVISION "1" CACHE STRING "Revision of the packages; cmake/deb/build names the Debian release in it")
set(RPCRDMA_DEB_SUITE "unstable" CACHE STRING "The Debian release that the packages are built for")

set(source rpcrdma-analyzer)
set(version ${PROJECT_VERSION}-${RPCRDMA_DEB_REVISION})
set(names_program rpcrdma-analyzer)
set(names_plugin wireshark-plugin-rpcrdma)
set(names_library librpcrdma-dev)

# The day of the newest change, so that the same commit gives the same octets on any day.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  message(FATAL_ERROR "SOURCE_DATE_EPOCH says when the packages were made; cmake/deb/build sets it")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date --utc --rfc-email --date=@$ENV{SOURCE_DATE_EPOCH}
                OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(made ${PROJECT_BINARY_DIR}/packaging)
file(MAKE_DIRECTORY ${made})
file(WRITE ${made}/changelog.Debian
     "${source} (${version}) ${RPCRDMA_DEB_SUITE}; urgency=medium\n\n"
     "  * Version ${PROJECT_VERSION}: what changed is in changelog.gz.\n\n"
     " -- ${RPCRDMA_MAINTAINER}  ${date}\n")
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${made}/changelog COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/docs/man/rpcrdma-analyzer.1 ${made}/rpcrdma-analyzer.1 COPYONLY)
execute_process(COMMAND gzip -9nf changelog changelog.Debian rpcrdma-analyzer.1 WORKING_DIRECTORY ${made}
                COMMAND_ERROR_IS_FATAL ANY)

foreach(component program plugin library)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/deb/copyright ${made}/changelog.gz ${made}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${names_${component}} COMPONENT ${component})
endforeach()
install(FILES ${made}/rpcrdma-analyzer.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
set(documents ${CMAKE_INSTALL_DATADIR}/doc/${names_program})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/guide ${PROJECT_SOURCE_DIR}/docs/learn ${PROJECT_SOURCE_DIR}/docs/rules
                  ${PROJECT_SOURCE_DIR}/docs/design
        DESTINATION ${documents} COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/docs/README.md ${PROJECT_SOURCE_DIR}/docs/report.schema.json DESTINATION ${documents}
        COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/plugin/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${names_plugin} COMPONENT plugin)
install(FILES ${PROJECT_SOURCE_DIR}/library/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${names_library}
        COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/library/example/CMakeLists.txt ${PROJECT_SOURCE_DIR}/library/example/collector.cpp
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${names_library}/examples COMPONENT library)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${source})
set(CPACK_PACKAGE_CONTACT ${RPCRDMA_MAINTAINER})
set(CPACK_COMPONENTS_ALL program plugin library)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${RPCRDMA_DEB_REVISION})
set(CPACK_DEBIAN_PACKAGE_SOURCE ${source})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
foreach(component program plugin library)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${names_${component}})
endforeach()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# Whose libraries the program loads itself when a capture needs them, which shlibdeps does not see.
foreach(library ${PCAP_LINK_LIBRARIES} ${WIRETAP_LIBRARY})
  file(REAL_PATH ${library} file)
  execute_process(COMMAND dpkg-query --search ${file} OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[:,].*" "" owner ${owner})
  list(APPEND loaded ${owner})
endforeach()
list(JOIN loaded ", " CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "tshark, ${names_plugin}")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "judge captures of NFS over RDMA\n\
Reads packet captures of NFS over RDMA (RoCE, InfiniBand, iWARP), follows both\n\
sides of every connection, and says what happened to the mount: whether it\n\
works, since when not, and who has to move. Then, frame by frame, who broke\n\
which rule of RPC-over-RDMA, what proves it, and what could not be checked.")
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION net)
# The library package of the Wireshark that this was built with: its name changes with each minor version, as its plugin
# folder does.
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_RECOMMENDS "tshark | wireshark")
set(CPACK_DEBIAN_PLUGIN_PACKAGE_ENHANCES "tshark, wireshark")
set(CPACK_COMPONENT_PLUGIN_DESCRIPTION
    "NFS over RDMA in Wireshark: decoding and a referee\n\
Extends the RPC-over-RDMA dissector of Wireshark and tshark: the private data\n\
of RFC 8797, the headers of versions 1 and 2, whole RPC messages with their\n\
chunks for the NFS dissectors, and what rpcrdma-analyzer finds, frame by\n\
frame.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "zlib1g-dev, libfmt-dev, libisal-dev, pkgconf | pkg-config")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
    "judge NFS over RDMA in programs of your own\n\
The referee of rpcrdma-analyzer as a static library behind one header: frames\n\
in, facts and findings out. With a CMake package and an example.")
include(CPack)
