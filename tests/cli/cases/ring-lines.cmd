# More lines than the rings hold, none lost, in order.
seq 1 5000 >lines
ingot ring $examples/ring-pipeline.metal -k upper -l -m event <lines >answers
cmp lines answers
