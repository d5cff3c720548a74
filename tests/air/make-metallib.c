// SPDX-License-Identifier: Apache-2.0
// make-metallib OUTPUT DIRECTORY NAME...: a library of DIRECTORY/NAME.ll, for tests of other parts.
#include <stdio.h>

#include "assemble.h"

int main(int argc, char **argv) {
    igi_text file = {0};
    if (argc < 4 || !assemble_metallib(argv[2], (const char *const *)argv + 3, (size_t)argc - 3, &file)) return 1;
    FILE *out = fopen(argv[1], "wb");
    bool written = out && fwrite(file.data, 1, file.length, out) == file.length;
    igi_text_free(&file);
    return out && fclose(out) == 0 && written ? 0 : 1;
}
