# exit 1
ingot generate -m nowhere.gguf -p hello
