# Traces of kernels and of ring kernels are what Perfetto and chrome://tracing read; the validator finds what is not.
ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --repeat 30 --trace run.json 2> notes
echo to be or not | INGOT_TRACE=ring.json ingot ring "$examples/ring-pipeline.metal" -k upper -k back=reverse -c upper,back -l -b 1 > replies
"$cases/../validate-trace.py" run.json ring.json
name='{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"p"}},{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"t"}}'
event='"name":"e","cat":"c","ph":"X","pid":1,"tid":1,"args":{}'
echo "[$name,{$event,\"ts\":0,\"dur\":5},{$event,\"ts\":3,\"dur\":5}]" > overlap.json
echo "[$name,{$event,\"ts\":0}]" > lasts.json
echo "[{$event,\"ts\":0,\"dur\":5}]" > unnamed.json
for bad in overlap lasts unnamed; do "$cases/../validate-trace.py" $bad.json; done
true
