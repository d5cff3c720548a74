# exit 2
ingot bench ring -k sennd
