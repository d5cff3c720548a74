INGOT_PYTHON=/no/such/python ingot bench llm -m "$model" -r 1 2>/dev/null
