# exit 2
ingot compile "$examples/saxpy.metal" --std c++17
