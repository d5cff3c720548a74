# exit 2
ingot run k.metal --grid 1 --constant 0
