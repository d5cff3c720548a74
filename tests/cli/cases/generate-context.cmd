ingot generate -m "$model" -p a -c 8 --temp 0
