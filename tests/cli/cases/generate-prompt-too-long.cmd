# exit 1
ingot generate -m "$model" -p abcdefgh -c 8 --no-display-prompt
