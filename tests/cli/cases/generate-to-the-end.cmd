ingot generate -m "$model" -p wx --temp 0 --no-display-prompt
