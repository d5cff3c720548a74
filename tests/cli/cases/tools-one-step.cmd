# Sources straight to a library, in all the forms that -o, -I, -D and -U have, from a response file and through pipes.
PATH=$tools:$PATH
mkdir -p 'a dir'
echo '#define ONE 1' > 'a dir/one.h'
echo '#include "one.h"
kernel void k(device int *x) { *x = ONE + TWO + THREE; }' > k.metal
printf '%s\n' "-I 'a dir' -DTWO=2" '"-DTHREE=3" k.metal -ofrom-file.metallib' > options
metal @options && ingot run from-file.metallib -g 1 -a 0=i32[1] -p 0
metal -D TWO=2 -DTHREE=9 -U THREE -D THREE -I'a dir' k.metal && ingot run default.metallib -g 1 -a 0=i32[1] -p 0
metal -isystem 'a dir' -D TWO=0 -DTHREE= -include 'a dir/one.h' -DTHREE=4 -x metal - -c -o - < k.metal | metallib - -o piped.metallib
ingot run piped.metallib -g 1 -a 0=i32[1] -p 0
metal -DTWO=20 -DTHREE=30 -idirafter 'a dir' -c k.metal && ls k.air && metal k.air -o from-object.metallib
ingot run from-object.metallib -g 1 -a 0=i32[1] -p 0
metal -DTWO=1 -DTHREE=1 -iquote 'a dir' k.metal -o - | metal-nm -j -
