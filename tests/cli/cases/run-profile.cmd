ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --repeat 3 --profile --trace trace.json
ingot info trace.json --json
python3 -c 'import json; print(sorted({e.get("cat", e["ph"]) for e in json.load(open("trace.json"))}))'
