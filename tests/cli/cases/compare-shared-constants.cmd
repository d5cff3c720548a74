# Two constants of one number, as libraries have that were linked from several sources: a value is for the one that it fits.
cat >one.metal <<'EOF'
constant int steps [[function_constant(10)]];
constant bool twice [[function_constant(10)]];
kernel void counts(device int *x [[buffer(0)]], metal::uint i [[thread_position_in_grid]]) { x[i] = steps; }
kernel void doubles(device int *x [[buffer(0)]], metal::uint i [[thread_position_in_grid]]) { x[i] = twice ? 2 : 1; }
EOF
sed 's/: 1/: 3/' one.metal >other.metal
ingot compare one.metal other.metal --constant 10=bool:true --all
ingot compare one.metal other.metal --constant 10=f32:1 --limit 1
