# SPDX-License-Identifier: Apache-2.0
# Included after each project(), for projects that use Metal only if(APPLE) or where the name of the system is Darwin. CMake read
# its rules for Linux before, in project() itself, so it compiles and links by those.
if(INGOT_METAL_APPLE)
  set(APPLE TRUE)
endif()
if(INGOT_METAL_DARWIN)
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_SYSTEM_PROCESSOR arm64)
  # CMake defines them on a Mac, empty: projects compare them without asking whether they are there.
  foreach(name IN ITEMS ARCHITECTURES DEPLOYMENT_TARGET SYSROOT)
    set(CMAKE_OSX_${name} "" CACHE STRING "Empty, as on a Mac where it was not set")
  endforeach()
endif()
