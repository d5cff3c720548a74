# A peer that cannot be loaded is absent, no more.
OCL_ICD_VENDORS=/nowhere/at-all ingot bench -k transpose -r 1 2>/dev/null | head -n 1
