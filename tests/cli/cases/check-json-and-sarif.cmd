# exit 1
ingot check "$examples/saxpy.metal" --grid 9 --arg 0=f32[8] --arg 1=f32[9]:iota --arg 2=f32:2 --json --sarif found.sarif
status=$?
python3 -c 'import json; print([r["ruleId"] for r in json.load(open("found.sarif"))["runs"][0]["results"]])'
exit $status
