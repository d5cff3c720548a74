for i in 1 2; do ingot generate -m "$model" -p a -n 20 -s 7 --temp 3 --top-k 0 --top-p 1 --min-p 0; done | sort -u | wc -l
