// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

const char *part_text(void);

int main(void) {
    return puts(part_text()) < 0;
}
