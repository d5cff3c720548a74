ingot info --json | /usr/bin/python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(row["device"], row["execution_width"], row["max_threads_per_threadgroup"] > 0, row["unified_memory"])
'
