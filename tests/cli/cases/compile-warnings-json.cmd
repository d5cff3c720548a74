# Warnings are rows too, when a kernel comes from the cache as well.
echo 'kernel void k(device float *x [[buffer(0)]]) { int n; if (n = 3) x[0] = n; }' >odd.metal
for round in cold cached; do
    ingot compile --json odd.metal 2>/dev/null | /usr/bin/python3 -c '
import json, sys
for row in map(json.loads, sys.stdin): print(row.get("severity", "kernel"), row.get("line"), row.get("column"))
'
done
