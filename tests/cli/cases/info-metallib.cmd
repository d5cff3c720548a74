# A library of tests/air: two kernels, one with function constants.
ingot info "$metallib"
ingot info "$metallib" -k 'const*'
ingot info "$metallib" --json -k denormals
ingot run "$metallib" -k denormals -g 1 -a "0=f32[1]:3" -p 0
