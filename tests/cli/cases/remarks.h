inline float twice_at(device const float *a, uint i) {
    return 2.0 * a[i];
}
