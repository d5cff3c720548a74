ingot demo -o pictures
/usr/bin/python3 -c '
import struct
data = open("pictures/ingots.png", "rb").read()
print(data[:8] == b"\x89PNG\r\n\x1a\n", struct.unpack(">II", data[16:24]), len(data) > 50000)
'
