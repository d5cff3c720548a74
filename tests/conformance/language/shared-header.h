#pragma once
#include <metal_stdlib>
#define HEADER_CONSTANT 40
constant char header_table[3] = {1, 2, 3};
static inline int header_value(int v) {
    return v * 1000;
}
