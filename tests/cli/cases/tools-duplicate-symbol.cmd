# exit 1
# Two units with a kernel of the same name cannot be linked, and nothing is written.
PATH=$tools:$PATH
echo 'kernel void same(device int *x) { *x = N; }' > k.metal
metal -DN=1 -c k.metal -o a.air && metal -DN=2 -c k.metal -o b.air
metallib a.air b.air -o both.metallib || { ls both.metallib; false; }
