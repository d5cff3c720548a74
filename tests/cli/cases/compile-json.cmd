ingot compile --json "$examples/saxpy.metal" | /usr/bin/python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    print(row["kernel"], row["threadgroup_memory"])
    for a in row["arguments"]:
        print(a["index"], a["kind"], a["name"], a["access"], a["attribute"])
'
