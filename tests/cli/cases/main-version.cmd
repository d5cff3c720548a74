ingot --version
