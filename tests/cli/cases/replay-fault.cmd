# exit 1
cat > wild.metal <<'END'
kernel void wild(device float *data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    data[i * 1000000000ul] = 1;
}
END
INGOT_CAPTURE_DIR=captures ingot run wild.metal --grid 64 --arg 0=f32[64]
ingot replay captures/0001-wild > /dev/null; echo $?
ingot replay captures/0001-wild --check --only memory
