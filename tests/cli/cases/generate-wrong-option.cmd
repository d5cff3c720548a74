# exit 2
ingot generate -m "$model" -p a --top-p 2
