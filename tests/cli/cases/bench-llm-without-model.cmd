INGOT_MODEL= ingot bench llm -r 1
