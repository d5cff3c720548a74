# exit 2
ingot ring $examples/ring-pipeline.metal -k count
