# exit 2
ingot bench -k softmaxx
