ingot halo wave -d 3 -g 2,1,2 -t 5,6,7 -n 9 --every 1 --halo 3 --overlap --obstacles slits --verify --json | /usr/bin/python3 -c '
import json, sys
row = json.loads(sys.stdin.readline())
print(row["problem"], row["dimensions"], row["grid"], row["tile"], row["cells"], row["ranks"], row["halo"], row["every"])
print(row["steps"], row["exchanges"], row["messages"], row["verified"], row["run_ns"] > 0)
'
