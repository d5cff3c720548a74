cp "$cases/remarks.metal" "$cases/remarks.h" .
INGOT_SIMT_WIDTH=8 ingot compile remarks.metal --remarks
