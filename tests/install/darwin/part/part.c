// SPDX-License-Identifier: Apache-2.0
const char *part_text(void);

const char *part_text(void) {
    return "both parts are here";
}
