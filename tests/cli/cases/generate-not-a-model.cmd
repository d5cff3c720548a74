# exit 1
echo hello >model.gguf
ingot generate -m model.gguf -p hello
