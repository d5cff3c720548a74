ingot halo wave -g 2,2 -t 16,12 -n 25 -f frames --frame-every 10 -o last.png >/dev/null
ls frames
/usr/bin/python3 -c '
import struct
data = open("last.png", "rb").read()
print(data[:8] == b"\x89PNG\r\n\x1a\n", struct.unpack(">II", data[16:24]))
'
