# exit 3
INGOT_DEVICE=toaster ingot compile "$examples/saxpy.metal"
