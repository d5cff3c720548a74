# exit 1
printf 'kernel void a(device int *x) { *x = 1; }' >a.metal
printf 'kernel void b(device int *x) { *x = 1; }' >b.metal
ingot compare a.metal b.metal
