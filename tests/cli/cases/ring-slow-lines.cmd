# Lines that come for longer than the timeout: it is for kernels, not for whoever writes.
{ echo first; sleep 3; echo last; } | ingot ring $examples/ring-pipeline.metal -k upper -l -m event --timeout 2 --deadline 60
