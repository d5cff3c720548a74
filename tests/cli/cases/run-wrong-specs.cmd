for spec in f64[4] 'f32[4' 'f32[]' 'f32[0]' f32[4]x f32[4]:1,2 f32[4]:random:x u8:256 u32:1.5 nonsense f32[4294967296,4294967296]; do
    ingot run "$examples/saxpy.metal" --grid 4 --arg 0="$spec" 2>>errors
    echo "$spec $?"
done
grep -c '^ingot run: --arg 0: ' errors
