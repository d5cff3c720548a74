# A file is written in the form that its name says, or not at all.
for file in x.jpg x.npy.txt x npy .npyx dir.npy/x; do
    ingot halo heat -n 1 -o $file 2>&1 | head -n 1
    ingot run "$examples/saxpy.metal" --grid 1 --arg 0=f32[1] --arg 1=f32[1] --arg 2=f32:1 --out 0=$file 2>&1 | head -n 1
done
ls
ingot halo heat -n 1 -o x.npy >/dev/null && ingot halo heat -n 1 -o x.png >/dev/null && ls
ingot run "$examples/saxpy.metal" --grid 1 --arg 0=f32[1] --arg 1=f32[1] --arg 2=f32:1 --out 0=/dev/stdout | head -c 6 | tail -c 5
