# exit 1
printf '%s\n' 'kernel void k(device float *a, uint i [[thread_index_in_threadgroup]]) {' \
    '  threadgroup float s[20480]; s[i] = a[i]; a[i] = s[63 - i]; }' > large.metal
ingot compile large.metal >/dev/null
