# exit 1
ingot ring $examples/saxpy.metal -s u32:1
