ingot bench ring -k send -k event-driven -k sustained -r 1 --seconds 0.1
