# exit 1
INGOT_CAPTURE_DIR=captures INGOT_CAPTURE_DISPATCH=0 ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --print 0:1
python3 - <<'END'
import struct
p = 'captures/0001-saxpy/buffer-0-after.npy'
b = bytearray(open(p, 'rb').read())
b[-4:] = struct.pack('<f', 14.25)
b[-8:-4] = struct.pack('<f', 12.0001)
open(p, 'wb').write(b)
END
ingot replay captures/0001-saxpy --tolerance 0.02
ingot replay captures/0001-saxpy --tolerance 0.001
ingot replay captures/0001-saxpy
