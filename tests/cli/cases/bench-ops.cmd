# Every backend computes the same before it is measured. No Python: it takes long to start.
INGOT_PYTHON=/no/such/python ingot bench ops -k rms_norm -r 1
