# What a file or an argument holds never reaches the terminal as an escape sequence.
escape=$(printf '\033[31m')
printf 'kernel void k() { %s \377; }\n' "$escape" >"$escape.metal"
printf '[[host_name("%s")]] kernel void k(device float *x) { x[0] = 1; }\n' "$escape" >named.metal
{
    ingot compile "$escape.metal"
    ingot compile --json "$escape.metal"
    ingot compile "no$escape"
    ingot "$escape"
    ingot run --"$escape"
    ingot run k.metal --grid 1 --arg "$escape"
    ingot info "$escape"
    ingot halo "$escape"
    ingot bench "$escape"
    ingot generate -m "$escape" -p x
    ingot generate -m "$escape.metal" -p x
    ingot ring "$escape" -s u32:1
    ingot halo heat -o "$escape/x.npy"
    ingot demo -o "/dev/null/$escape"
    ingot compile named.metal
    ingot compile --json named.metal
    ingot run named.metal --grid 1 --arg 0=f32[1]
    ingot run named.metal --grid 1 --arg 0=f32[1] --time
    ingot run named.metal --grid 1 --arg 0=f32[1] --constant "$escape=u32:1"
    ingot compile named.metal --remarks
    ingot compile named.metal --emit llvm
    ingot run named.metal -k x --grid 1
} >all 2>&1
grep -c "$(printf '\033')" all
grep -q '\\x1b\[31m' all && echo "shown as escapes"
