// Two elements that a thread reads and writes, a distance apart that only the run knows.
#include <metal_stdlib>
using namespace metal;

// One pass of a sorting network. Element `first` is the first of a pair.
kernel void order(device uint *keys [[buffer(0)]], constant uint &distance [[buffer(1)]],
                  constant uint &run [[buffer(2)]], constant uint &first [[buffer(3)]],
                  uint t [[thread_position_in_grid]]) {
    uint pair = t + first;
    uint low = pair & (distance - 1);
    uint i = (pair - low) * 2 + low;
    uint a = keys[i], b = keys[i + distance];
    bool ascending = (i & run) == 0;
    if ((a > b) == ascending) {
        keys[i] = b;
        keys[i + distance] = a;
    }
}

// The second element is written first, and values are changed.
kernel void differences(device float *x [[buffer(0)]], constant int &distance [[buffer(1)]],
                        uint pair [[thread_position_in_grid]]) {
    int low = pair & (distance - 1);
    int i = (int(pair) - low) * 2 + low;
    float a = x[i], b = x[i + distance];
    if (a < b) {
        x[i + distance] = b - a;
        x[i] = a + b;
    }
}

// All threads write.
kernel void butterfly(device int *x [[buffer(0)]], constant uint &distance [[buffer(1)]],
                      uint pair [[thread_position_in_grid]]) {
    uint low = pair & (distance - 1);
    uint i = (pair - low) * 2 + low;
    int a = x[i], b = x[i + distance];
    x[i] = a + b;
    x[i + distance] = a - b;
}

// Pairs in order, whatever the distance: element i of one row and of the next.
kernel void between_rows(device int *x [[buffer(0)]], constant uint &columns [[buffer(1)]],
                         uint t [[thread_position_in_grid]]) {
    uint i = t / columns * columns * 2 + t % columns;
    int a = x[i], b = x[i + columns];
    if (a & 1) {
        x[i] = b;
        x[i + columns] = a;
    }
}
