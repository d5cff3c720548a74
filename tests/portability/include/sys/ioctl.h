// SPDX-License-Identifier: Apache-2.0
// Terminals.
#ifndef STAND_IN_SYS_IOCTL_H
#define STAND_IN_SYS_IOCTL_H

struct winsize {
    unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
#define TIOCGWINSZ 0x40087468ul
int ioctl(int file, unsigned long request, ...);

#endif
