# -std and the math modes are in the library: nothing else is given when it runs.
PATH=$tools:$PATH
echo 'kernel void version(device int *x) { *x = __METAL_VERSION__; }' > version.metal
for standard in metal1.2 macos-metal2.4 ios-metal2.3 metal3.0 metal4.0; do
    metal -std=$standard version.metal && ingot run default.metallib -g 1 -a 0=i32[1] -p 0
done
metal -mmacosx-version-min=12.0 version.metal && ingot run default.metallib -g 1 -a 0=i32[1] -p 0
metal -target air64-apple-ios17.0 version.metal && ingot run default.metallib -g 1 -a 0=i32[1] -p 0
echo 'kernel void halve(device float *x) { *x *= 0.5f; }' > halve.metal
for math in -ffast-math -fno-fast-math -fmetal-math-mode=safe -fmetal-math-mode=relaxed; do
    metal $math halve.metal && ingot run default.metallib -g 1 -a '0=f32[1]:1.2e-38' -p 0
done
