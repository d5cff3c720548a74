# exit 1
printf 'constant int x = 1;\n' >none.metal
ingot run none.metal --grid 1
