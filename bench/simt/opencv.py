# SPDX-License-Identifier: Apache-2.0
"""The cases of `ingot bench simt` with textures, by OpenCV: opencv.py THREADS.

First says its version, or nothing when it is not there. Then, for each line with the name of a case: the seconds of one
run, or -1 when it has no such case.
"""
import ctypes
import sys
import time

if sys.platform == "linux":
    # The parent stops us between answers. If it dies in the meantime, nothing would continue us.
    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)

try:
    import cv2
    import numpy
except ImportError:
    sys.exit()
cv2.setNumThreads(int(sys.argv[1]))

LARGE, SMALL = 4096, 2730
random = numpy.random.default_rng(1)
made = {}


def image(side, bytes):
    if (side, bytes) not in made:
        shape = (side, side, 4) if bytes else (side, side)
        pixels = random.integers(0, 256, shape, dtype=numpy.uint8)
        made[side, bytes] = pixels if bytes else pixels.astype(numpy.float32) / 255
    return made[side, bytes]


def output(bytes):
    return made.setdefault(("out", bytes), numpy.empty_like(image(LARGE, bytes)))


def blur(bytes):
    # The weights 1 4 6 4 1; sigma 0 and 5 pixels are these.
    return lambda: cv2.GaussianBlur(image(LARGE, bytes), (5, 5), 0, dst=output(bytes), borderType=cv2.BORDER_REPLICATE)


def resize(bytes):
    return lambda: cv2.resize(image(SMALL, bytes), (LARGE, LARGE), dst=output(bytes), interpolation=cv2.INTER_LINEAR)


grey = random.integers(0, 256, (LARGE, LARGE), dtype=numpy.uint8)
CASES = {
    "texture-blur": blur(False),
    "texture-blur-rgba8": blur(True),
    "texture-resize": resize(False),
    "texture-resize-rgba8": resize(True),
    "texture-histogram": lambda: cv2.calcHist([grey], [0], None, [256], [0, 256]),
}

print(cv2.__version__, flush=True)
warm = set()
for line in sys.stdin:
    run = CASES.get(line.strip())
    if run and line not in warm:
        run()
        warm.add(line)
    start = time.perf_counter()
    if run:
        run()
    print(time.perf_counter() - start if run else -1, flush=True)
