# SPDX-License-Identifier: Apache-2.0
"""The cases of `ingot bench ops` in one library: numpy-torch.py THREADS numpy|torch.

First says its name, or nothing when it is not there. Then, for each line "check|time OP ROWS COLUMNS CALLS BATCHES": the
sum of the magnitudes of the result, or the seconds of a call, which is the median of batches of so many calls; -1 when
the library has no such op.

Large results go into memory that is there already (out=) where the library can do that: pages fresh from the system
cost more than the op.
"""
import ctypes
import os
import statistics
import sys
import time

THREADS, LIBRARY = sys.argv[1:]
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = THREADS

if sys.platform == "linux":
    # The parent stops us between answers. If it dies in the meantime, nothing would continue us.
    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)

try:
    import numpy
    if LIBRARY == "torch":
        import torch
        torch.set_num_threads(int(THREADS))
        torch.set_grad_enabled(False)
except ImportError:
    sys.exit(1)

LARGE = 1 << 20
HEADS, HEAD_DIM = 16, 64


def element(count, which):
    index = numpy.arange(count, dtype=numpy.uint64)
    bits = (index * (40503, 30011)[which] + which * 12345) & 0xFFFF
    return (bits.astype(numpy.float32) / 32768 - 0.5).astype(numpy.float32)


def numpy_ops(a, b, weight, out):
    columns = a.shape[1]

    def softmax():
        e = numpy.exp(a - a.max(axis=-1, keepdims=True))
        return numpy.divide(e, e.sum(axis=-1, keepdims=True), out=e)

    def rms_norm():
        scale = 1 / numpy.sqrt(numpy.einsum("ij,ij->i", a, a) / columns + 1e-5)
        return a * scale[:, None].astype(numpy.float32) * weight

    other = None if out is None else numpy.empty_like(out)

    def mixed5():
        x = numpy.multiply(a, b, out=out)
        x = numpy.maximum(numpy.add(x, a, out=out), 0, out=out)
        return numpy.subtract(numpy.multiply(x, numpy.float32(0.75), out=out), b, out=out)

    def swish5():
        x = numpy.add(numpy.multiply(a, numpy.float32(0.75), out=out), b, out=out)
        gate = numpy.negative(x, out=other)
        gate = numpy.reciprocal(numpy.add(numpy.exp(gate, out=other), 1, out=other), out=other)
        return numpy.multiply(numpy.multiply(x, gate, out=out), a, out=out)

    return {
        "mixed5": mixed5,
        "swish5": swish5,
        "matmul": lambda: numpy.matmul(a, b, out=out),
        "add": lambda: numpy.add(a, b, out=out),
        "mul": lambda: numpy.multiply(a, b, out=out),
        "maximum": lambda: numpy.maximum(a, b, out=out),
        "neg": lambda: numpy.negative(a, out=out),
        "relu": lambda: numpy.maximum(a, 0, out=out),
        "exp": lambda: numpy.exp(a, out=out),
        "tanh": lambda: numpy.tanh(a, out=out),
        "sigmoid": lambda: 1 / (1 + numpy.exp(-a)),
        "silu": lambda: a / (1 + numpy.exp(-a)),
        "sum": lambda: numpy.sum(a),
        "mean": lambda: numpy.mean(a),
        "max": lambda: numpy.max(a),
        "argmax": lambda: numpy.argmax(a),
        "norm": lambda: numpy.linalg.norm(a),
        "softmax": softmax,
        "rms_norm": rms_norm,
        "transpose": lambda: numpy.ascontiguousarray(a.T),
    }


def torch_ops(a, b, weight, out):
    functional = torch.nn.functional
    other = None if out is None else torch.empty_like(out)

    def mixed5():
        x = torch.add(torch.mul(a, b, out=out), a, out=out)
        x = torch.clamp_min(x, 0, out=out)
        return torch.sub(torch.mul(x, 0.75, out=out), b, out=out)

    def swish5():
        x = torch.add(torch.mul(a, 0.75, out=out), b, out=out)
        gate = torch.sigmoid(x, out=other)
        return torch.mul(torch.mul(x, gate, out=out), a, out=out)

    ops = {
        "mixed5": mixed5,
        "swish5": swish5,
        "matmul": lambda: torch.matmul(a, b, out=out),
        "add": lambda: torch.add(a, b, out=out),
        "mul": lambda: torch.mul(a, b, out=out),
        "maximum": lambda: torch.maximum(a, b, out=out),
        "neg": lambda: torch.neg(a, out=out),
        "relu": lambda: torch.relu(a),
        "exp": lambda: torch.exp(a, out=out),
        "tanh": lambda: torch.tanh(a, out=out),
        "sigmoid": lambda: torch.sigmoid(a, out=out),
        "silu": lambda: functional.silu(a),
        "gelu": lambda: functional.gelu(a),
        "sum": lambda: torch.sum(a),
        "mean": lambda: torch.mean(a),
        "max": lambda: torch.max(a),
        "argmax": lambda: torch.argmax(a),
        "norm": lambda: torch.linalg.vector_norm(a),
        "softmax": lambda: torch.softmax(a, -1, out=out) if out is not None else torch.softmax(a, -1),
        "transpose": lambda: out.copy_(a.T) if out is not None else a.T.contiguous(),
    }
    if hasattr(functional, "rms_norm"):
        ops["rms_norm"] = lambda: functional.rms_norm(a, (a.shape[1],), weight, 1e-5)
    if out is not None:
        ops["relu"] = lambda: torch.clamp_min(a, 0, out=out)
        ops["silu"] = lambda: torch.ops.aten.silu.out(a, out=out)
        ops["gelu"] = lambda: torch.ops.aten.gelu.out(a, out=out)
    return ops


def attention_ops(rows, columns):
    """PyTorch's own layout: heads first. Keys are their own values."""
    query, key = (element(count * HEADS * HEAD_DIM, which).reshape(count, HEADS, HEAD_DIM)
                  for which, count in enumerate((rows, columns)))
    query, key = (torch.from_numpy(x).transpose(0, 1)[None].contiguous() for x in (query, key))
    attend = torch.nn.functional.scaled_dot_product_attention
    return {"attention": lambda: attend(query, key, key, is_causal=rows > 1)}


FORMATS = ("q4_0", "q4_k")


def matvec_ops(columns):
    """Neither library has such weights: the same product with floats."""
    x, matrix = element(columns, 0), element(columns * columns, 1).reshape(columns, columns)
    if LIBRARY == "numpy":
        return dict.fromkeys(FORMATS, lambda: matrix @ x)
    weight, vector = torch.from_numpy(matrix), torch.from_numpy(x)
    return dict.fromkeys(FORMATS, lambda: torch.mv(weight, vector))


def array_ops(rows, columns):
    a, b = (element(rows * columns, which).reshape(rows, columns) for which in (0, 1))
    weight = numpy.full(columns, 0.75, dtype=numpy.float32)
    out = numpy.empty_like(a) if rows * columns >= LARGE else None
    if LIBRARY == "numpy":
        return numpy_ops(a, b, weight, out)
    return torch_ops(*(x if x is None else torch.from_numpy(x) for x in (a, b, weight, out)))


prepared = {}


def ops_of(op, rows, columns):
    """Those of the last size only: each holds three large arrays."""
    key = ("weights" if op in FORMATS else op if op == "attention" else "", rows, columns)
    if key not in prepared:
        prepared.clear()
        if op == "attention":
            prepared[key] = attention_ops(rows, columns) if LIBRARY == "torch" else {}
        else:
            prepared[key] = matvec_ops(columns) if op in FORMATS else array_ops(rows, columns)
    return prepared[key]


def check(run, op):
    if op in ("argmax", *FORMATS):
        return float("nan")
    return float(numpy.abs(numpy.asarray(run(), dtype=numpy.float64)).sum())


def seconds(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def answer(what, op, rows, columns, calls, batches):
    run = ops_of(op, int(rows), int(columns)).get(op)
    if run is None:
        return -1
    if what == "check":
        return check(run, op)
    return statistics.median(seconds(run, int(calls)) for _ in range(int(batches)))


def main():
    print(LIBRARY, flush=True)
    for line in sys.stdin:
        try:
            print(answer(*line.split()), flush=True)
        except (RuntimeError, TypeError, ValueError, MemoryError, AttributeError):
            print(-1, flush=True)


main()
