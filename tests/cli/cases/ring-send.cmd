ingot ring $examples/ring-pipeline.metal -k upper -s text:ingot -s text:ring -r 2
