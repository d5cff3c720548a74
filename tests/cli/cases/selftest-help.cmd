ingot selftest --help | head -n 2
