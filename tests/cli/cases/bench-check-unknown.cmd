# exit 2
ingot bench check -k softmaxx
