# exit 1
ingot generate -m "$model" -p ""
