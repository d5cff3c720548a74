// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <vector>

#include "sums.h"

int main() {
    std::vector<simd_float4> points;
    for (int i = 0; i < 100; i++) points.push_back(simd_make_float4(float(i), 1, 0, -float(i)));
    auto sums = std::make_unique<float[]>(points.size());
    if (!weigh_points(points.data(), points.size(), simd_make_float4(3, 5, 7, 1), sums.get())) return 1;
    for (size_t i = 0; i < points.size(); i++)
        if (sums[i] != 2 * float(i) + 5) return 1;
    std::cout << "100 sums are right, on " << (processors() > 0 ? "this machine" : "nothing") << "\n";
    return 0;
}
