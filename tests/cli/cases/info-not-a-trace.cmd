# exit 1
printf '{"cat":"dispatch"' > broken.json
ingot info broken.json; echo $?
printf '[\n{"name":"k","cat":"dispatch","args":{"width":99999999999}}\n]\n' > odd.json
ingot info odd.json
