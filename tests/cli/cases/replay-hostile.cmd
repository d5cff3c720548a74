# exit 1
INGOT_CAPTURE_DIR=captures INGOT_CAPTURE_DISPATCH=0 ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --print 0:1 > /dev/null
try() {
    rm -rf changed && cp -r captures/0001-saxpy changed && sed -i "$1" changed/capture.json && ingot replay changed > /dev/null
    echo "$1: $?"
}
try 's|buffer-0.npy|../captures/0001-saxpy/buffer-0.npy|'
try 's|buffer-0.npy|/etc/passwd|'
try 's|kernel.metal|.hidden|'
try 's|"length":32|"length":64|'
try 's|"type":"f32"|"type":"f64"|'
try 's|"buffer":0|"buffer":7|'
try 's|"offset":0|"offset":32|'
try 's|"grid":\[8,1,1\]|"grid":[8,0,1]|'
try 's|"grid":\[8,1,1\]|"grid":[-1,1,1]|'
try 's|"group":\[8,1,1\]|"group":[4294967295,4294967295,1]|'
try 's|"index":0|"index":4000000000|'
try 's|"arguments":\[.*\]|"arguments":[]|'
try 's|"ingot_capture":1|"ingot_capture":2|'
try 's|}$||'
rm changed/capture.json changed/buffer-0.npy
cp captures/0001-saxpy/capture.json changed && ln -s ../captures/0001-saxpy/buffer-0.npy changed/buffer-0.npy
ingot replay changed > /dev/null; echo "link: $?"
ingot replay nowhere
