# metal-ar: put, replace, list, extract, delete; metallib links what is in an archive.
PATH=$tools:$PATH
echo 'kernel void NAME(device int *x) { *x = VALUE; }' > k.metal
metal -DNAME=one -DVALUE=1 -c k.metal -o one.air
metal -DNAME=two -DVALUE=2 -c k.metal -o a-long-name-for-the-second.air
metal-ar rcs both.metalar one.air a-long-name-for-the-second.air && metal-ar t both.metalar
metal -DNAME=one -DVALUE=11 -c k.metal -o one.air
metal-ar -r both.metalar one.air && metallib both.metalar -o both.metallib && ingot run both.metallib -k one -g 1 -a 0=i32[1] -p 0
metal-nm both.metalar
rm one.air && metal-ar x both.metalar one.air && ls one.air
metal-ar p both.metalar one.air | cmp - one.air
metal-ar d both.metalar one.air && metal-ar t both.metalar
