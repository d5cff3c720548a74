ingot help run | head -n 1
[ "$(ingot help generate)" = "$(ingot generate --help)" ] && echo "the same"
ingot help frob 2>&1 | head -n 1
ingot help comple 2>&1 | head -n 1
