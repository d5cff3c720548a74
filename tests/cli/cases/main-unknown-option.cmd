# exit 2
ingot --frobnicate
