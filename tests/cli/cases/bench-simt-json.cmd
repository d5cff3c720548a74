OCL_ICD_VENDORS=/dev/null ingot bench simt -k transpose -r 1 --json 2>/dev/null
