# exit 3
INGOT_CLANG=/no/such/clang ingot compile "$examples/saxpy.metal" -D FRESH
