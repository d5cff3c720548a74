INGOT_THRESHOLDS=$PWD/thresholds INGOT_PYTHON=/no/such/python ingot bench ops --tune -k relu -r 1 --json >rows
grep -c '"suite":"ops","case":"relu ' rows
grep -Ec '^(relu|matmul) (simd|msl) (never|[0-9]+)$' thresholds
