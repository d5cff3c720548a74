# exit 3
INGOT_BENCH=/nowhere/ingot-bench ingot bench device
