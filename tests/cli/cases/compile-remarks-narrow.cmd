cp "$cases/remarks.metal" "$cases/remarks.h" .
INGOT_SIMT_WIDTH=1 ingot compile remarks.metal --remarks --kernel waits
