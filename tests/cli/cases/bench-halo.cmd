ingot bench halo -r 1 -k 1024^2 2>/dev/null
