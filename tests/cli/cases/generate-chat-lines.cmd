printf "hello\nhow are you\n" | ingot generate -m "$model" --chat --system be -n 3 --temp 0 --json | grep -o '"text":"[a-z]*"'
