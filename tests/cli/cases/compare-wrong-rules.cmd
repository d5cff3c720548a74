printf 'kernel void a(device int *x) { *x = 1; }' >a.metal
for rule in 'grid 1' '[a' '[*]\ngrid 0' '[*]\nfrobnicate 1' '[*]\narg 0=f32' '[*]\nvalue x' '[*]\nconstant 1=2' '[*]\nthreadgroup 0=0'; do
    printf "# a comment\\n$rule\\n" >rules
    ingot compare a.metal a.metal --rules rules 2>&1
    echo "exit code $?"
done
