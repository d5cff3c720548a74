# A python3 that breaks down is no peer.
printf '#!/bin/sh\nexit 1\n' >python && chmod +x python
INGOT_PYTHON=$PWD/python ingot bench ops -k argmax -r 1 >rows && ! grep torch rows
