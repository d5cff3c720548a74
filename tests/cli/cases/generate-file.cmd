printf "x y" >prompt
ingot generate -m "$model" -f prompt --temp 0 --json
