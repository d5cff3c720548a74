# exit 2
ingot ring $examples/ring-pipeline.metal -s u32:1
