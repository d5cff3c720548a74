# exit 2
ingot generate -p hello
