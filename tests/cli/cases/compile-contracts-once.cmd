cat > twice.metal <<'END'
kernel void twice(device float *a, uint i [[thread_position_in_grid]]) {
    float product = a[i] * a[i + 1];
    a[i] = product + a[i + 2];
    a[i + 3] = product - a[i + 4];
}
END
ingot compile twice.metal --emit llvm | grep -cE "f(mul|add|sub) contract"
ingot compile twice.metal --emit llvm | grep -cE "f(mul|add|sub) "
