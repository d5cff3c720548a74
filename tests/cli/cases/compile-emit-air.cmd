ingot compile "$metallib" --kernel denormals --emit air | grep -c "addrspace(1)\|air.kernel"
# A kernel that needs function constants.
ingot compile "$metallib" --kernel constants --emit air | grep -c "addrspace(1)\|air.kernel"
