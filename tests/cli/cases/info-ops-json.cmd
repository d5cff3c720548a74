ingot info --ops --json | /usr/bin/python3 -c '
import json, sys
rows = {row["op"]: row for row in map(json.loads, sys.stdin)}
print(len(rows) > 80, rows["exp"]["served_by"]["f32"], rows["exp"]["backends"]["msl"]["threshold"])
print(rows["matmul"]["order"], rows["matmul"]["work"], rows["add"]["backends"]["blas"]["why"])
'
