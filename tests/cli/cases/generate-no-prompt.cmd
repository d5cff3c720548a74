# exit 2
ingot generate -m "$model"
