for v in metal3.1 3.1 metal3.0; do ingot compile "$examples/saxpy.metal" --std $v | grep -c "^kernel saxpy"; done
