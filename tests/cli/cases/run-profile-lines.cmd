printf 'kernel void hot(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n    float x = a[i];\n    for (uint k = 0; k < 100000; k++)\n        x = metal::sin(x) + 1;\n    a[i] = x;\n}\n' > hot.metal
ingot run hot.metal --grid 1024 --group 32 --arg 0=f32[1024] --repeat 3 --profile-lines | sed -n '4,5p'
ingot run hot.metal --grid 1024 --group 32 --arg 0=f32[1024] --repeat 3 --profile-lines --json | sed -n '3p'
