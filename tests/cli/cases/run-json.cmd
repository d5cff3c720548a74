ingot run "$examples/saxpy.metal" --json --grid 4 --arg 0=f32[4] --arg 1=f32[4]:iota --arg 2=f32:0.5 --print 0 --out 0=y.npy | /usr/bin/python3 -c '
import json, sys
run, printed, written = map(json.loads, sys.stdin)
print(run["kernel"], run["grid"], run["runs"], run["best_ns"] > 0)
print(printed["argument"], printed["name"], printed["type"], printed["shape"], printed["values"])
print(written["argument"], written["file"])
'
