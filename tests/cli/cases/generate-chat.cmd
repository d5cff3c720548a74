ingot generate -m "$model" --chat -p hello -n 2 --temp 0
