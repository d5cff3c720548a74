ingot demo --json | /usr/bin/python3 -c '
import json, sys
for row in map(json.loads, sys.stdin): print(row.get("act", "device"))
'
