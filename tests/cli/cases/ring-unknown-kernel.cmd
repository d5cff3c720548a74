# exit 1
ingot ring $examples/ring-pipeline.metal -k uper -s u32:1
