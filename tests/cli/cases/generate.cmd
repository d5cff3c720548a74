ingot generate -m "$model" -p abc -n 4 --temp 0
