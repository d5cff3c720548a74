# exit 1
# Every message is a row of its own; the last row says how it ended.
cat >wrong.metal <<'END'
kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[0] = nonsense;
    if (i = 3) x[i] = 0;
    int n = 3
}
END
ingot compile --json wrong.metal >rows
code=$?
/usr/bin/python3 -c '
import json
rows = [json.loads(line) for line in open("rows")]
for row in rows[:-1]:
    changes = [(c["line"], c["column"], c["end_column"], c["text"]) for c in row["fixits"]]
    print(row["severity"], row["file"], row["line"], row["column"], row["message"][:40], changes)
row = rows[-1]
print(row["status"], row["line"], row["column"], "nonsense" in row["error"], "^" in row["log"])
'
exit $code
