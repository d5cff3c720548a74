# exit 1
ingot ring $examples/ring-pipeline.metal -k count -s f32[20000]
