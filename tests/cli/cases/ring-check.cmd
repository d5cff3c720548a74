# exit 1
ingot ring $cases/ring-check.metal -b 32 --shared 132 --check -s u32:1
ingot ring $cases/ring-check.metal -b 32 --shared 128 --check -s u32:1
