# exit 1
ingot ring $cases/ring-picky.metal -s u32:1 -s u32:13
