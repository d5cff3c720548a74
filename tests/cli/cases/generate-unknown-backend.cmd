# exit 1
ingot generate -m "$model" -p a --backend gpu --no-display-prompt
