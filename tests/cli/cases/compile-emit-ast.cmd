ingot compile "$examples/saxpy.metal" --emit ast | grep -c "FunctionDecl .* saxpy 'void"
