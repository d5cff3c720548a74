# What people type for llama.cpp has its meaning, or a sentence that says why not.
ingot generate -m "$model" -p abc -n 3 --temp 0 -ngl 99 -fa on -fa -b 512 --no-mmap -ctk f32 --n-predict 2 2>&1 | sed 's/;.*//'
ingot generate -m "$model" -cnv -sys be -p hello -n 2 --temperature 0 2>/dev/null
for options in '-hf X' '-hfr X' '-ngx 3' '-temp 0' '-nope' '-ctk q8_0' '-p a -f b'; do
    # shellcheck disable=SC2086
    ingot generate -m "$model" $options 2>&1 >/dev/null | head -n 1
    ingot generate -m "$model" $options >/dev/null 2>&1
    echo $?
done
