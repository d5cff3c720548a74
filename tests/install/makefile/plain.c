// SPDX-License-Identifier: Apache-2.0
float first_number(void) {
    return 21;
}
