export INGOT_CAPTURE_DIR=captures
INGOT_CAPTURE_DISPATCH=saxpy ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --print 0
ingot replay captures/0001-saxpy
ingot replay captures/0001-saxpy --width 1 --json
