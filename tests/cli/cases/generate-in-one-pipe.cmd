# Text and figures that go into one pipe stay apart.
ingot generate -m "$model" -p abc -n 3 --temp 0 2>&1 | cat
