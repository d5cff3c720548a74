# exit 2
ingot compile "$metallib" --emit ast
