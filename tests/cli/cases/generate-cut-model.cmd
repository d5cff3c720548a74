# exit 1
head -c 5000 "$model" >model.gguf
ingot generate -m model.gguf -p hello
