INGOT_CAPTURE_DIR=captures INGOT_CAPTURE_DISPATCH=0 ingot run "$metallib" -k denormals -g 1 -a "0=f32[1]:3" -p 0
ls captures
