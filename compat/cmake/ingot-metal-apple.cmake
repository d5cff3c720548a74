# SPDX-License-Identifier: Apache-2.0
# Included after each project() if INGOT_METAL_APPLE is ON. Only the variable: CMAKE_SYSTEM_NAME stays Linux, because with Darwin
# CMake would link as on a Mac.
set(APPLE TRUE)
