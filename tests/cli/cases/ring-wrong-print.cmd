# exit 2
ingot ring $examples/ring-pipeline.metal -k count -s u32:1 -p f33
