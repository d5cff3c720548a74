// SPDX-License-Identifier: Apache-2.0
// What the reader and the writer of bundles agree on.
#ifndef INGOT_MSL_BUNDLE_FORMAT_H
#define INGOT_MSL_BUNDLE_FORMAT_H

#define IGI_BUNDLE_MAGIC "INGOTLIB"
enum {
    IGI_BUNDLE_MAGIC_BYTES = 8,
    IGI_BUNDLE_FORMAT = 1,
    IGI_BUNDLE_HEADER_BYTES = 32,  // magic, format, number of units, hash of what follows
    IGI_BUNDLE_LEAST_UNIT = 8,
};
// Of a file.
enum { IGI_BUNDLE_DATA = 1, IGI_BUNDLE_BEFORE = 2 };

#endif
