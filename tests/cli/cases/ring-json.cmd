ingot ring $examples/ring-pipeline.metal -k count -s f32:1,2 -f $examples/saxpy.metal -p u32 -t 5 --status --json
