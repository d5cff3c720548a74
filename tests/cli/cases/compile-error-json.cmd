# exit 1
printf 'kernel void k(device float *x [[buffer(0)]]) {\n    x[0] = nonsense;\n}\n' >wrong.metal
ingot compile --json wrong.metal >rows
code=$?
/usr/bin/python3 -c '
import json
row = json.loads(open("rows").read())
print(row["status"], row["line"], row["column"], "nonsense" in row["error"], "^" in row["log"])
'
exit $code
