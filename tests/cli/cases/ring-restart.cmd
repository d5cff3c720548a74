# exit 1
# One handler fails and one does not return; the third message is handled all the same.
ingot ring $cases/ring-picky.metal -b 1 -s u32:13 -s u32:99 -s u32:4 --restart 2 --deadline 0.1
