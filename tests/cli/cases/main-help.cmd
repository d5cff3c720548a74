ingot --help
