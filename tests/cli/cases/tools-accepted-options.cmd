# Options that have no effect here, and those of version and help.
PATH=$tools:$PATH
echo 'kernel void k(device int *x) { *x = 1; }' > k.metal
metal -O2 -Os -g -gline-tables-only -fmodules -fmodules-cache-path=cache -fmodule-name=x -isysroot / -isysroot/ -arch air64 -F /x \
    -frecord-sources=flat -ftext-section=x -fno-inline -fpreserve-invariance -serialize-diagnostics d.dia -index-store-path i \
    -fmessage-length=0 -fdiagnostics-show-note-include-stack -fmacro-backtrace-limit=0 -fno-color-diagnostics -pipe -MG \
    -iframework /x -fmetal-math-fp32-functions=precise -emit-llvm -Qunused-arguments -ferror-limit=3 -pedantic -c k.metal && ls
for tool in metal metallib metal-ar metal-nm metal-objdump xcrun; do
    $tool --version | grep -q 'Ingot' || echo "$tool has no version"
    $tool --help | grep -q "^usage: $tool" || echo "$tool has no help"
done
metal -v 2>&1 | head -1
metal '-###' k.metal -o never.metallib 2>&1 | head -1; ls never.metallib 2>/dev/null
true
