for b in scalar simd; do ingot generate -m "$model" -p abc -n 4 --temp 0 --backend $b 2>/dev/null; done
