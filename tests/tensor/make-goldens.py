#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write goldens.txt: calls of every op with NumPy's answers, which test-goldens runs.

Run it with the Python that has `make setup`'s NumPy: /usr/bin/python3 tests/tensor/make-goldens.py. Another version of
NumPy may order zeros of different sign in another way.

A case is lines of words:
    case OP KEY=VALUE...
    in TYPE SHAPE VIEW VALUES...      VIEW: how the op sees it: plain, transposed, reversed, every-other
    out TYPE SHAPE VALUES...
Expected values are computed in float64 from the rounded inputs and rounded once; bf16 is done by hand.
"""
import contextlib
import io
import math
import pathlib
import zlib

import numpy as np

rng = None


def reseed(name):
    """Each part, and each elementwise op and reduction, has its own numbers: a new op does not change the others."""
    global rng
    rng = np.random.default_rng(zlib.crc32(name.encode()))


np.seterr(all="ignore")

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": np.float32, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
         "i64": np.int64, "bool": np.bool_}
FLOATS = ("f32", "f16", "bf16")
INTEGERS = ("i8", "u8", "i32", "i64")


def to_bf16(x):
    """Round float64 to bfloat16 once, to nearest even, kept as float64."""
    x = np.asarray(x, np.float64)
    out = np.array(x)
    finite = np.isfinite(x) & (x != 0)
    exponent = np.floor(np.log2(np.abs(x), where=finite, out=np.zeros_like(x)))
    unit = np.exp2(np.maximum(exponent, -126) - 7)
    out[finite] = (np.rint(x / unit) * unit)[finite]
    out[np.abs(out) > 3.3895313892515355e38] = np.copysign(np.inf, out)[np.abs(out) > 3.3895313892515355e38]
    return out


def rounded(x, kind):
    if kind == "bf16":
        return to_bf16(x).astype(np.float32)
    return np.asarray(x).astype(TYPES[kind])


def number(v):
    if isinstance(v, (np.bool_, bool)):
        return "1" if v else "0"
    if isinstance(v, (np.integer, int)):
        return str(int(v))
    v = float(v)
    if math.isnan(v):
        return "nan"
    if math.isinf(v):
        return "inf" if v > 0 else "-inf"
    return repr(int(v)) if v == int(v) and abs(v) < 1e6 and not (v == 0 and math.copysign(1, v) < 0) else "%.9g" % v


class Tensor:
    def __init__(self, kind, values, view="plain"):
        self.kind, self.view = kind, view
        self.stored = rounded(values, kind)

    def seen(self):
        x = self.stored
        if self.view == "transposed":
            x = x.transpose()
        elif self.view == "reversed":
            x = x[..., ::-1]
        elif self.view == "every-other":
            x = x[..., ::2]
        return x

    def wide(self):
        return self.seen().astype(np.float64 if self.kind in FLOATS else np.int64)

    def line(self, word):
        shape = "x".join(map(str, self.stored.shape)) or "scalar"
        view = self.view + " " if word == "in" else ""
        return f"{word} {self.kind} {shape} {view}" + " ".join(number(v) for v in self.stored.ravel())


def case(op, inputs, kind, expected, **keys):
    print("case", op, *(f"{k}={v}" for k, v in keys.items()))
    for tensor in inputs:
        print(tensor.line("in").rstrip())
    print(Tensor(kind, expected).line("out").rstrip())


def values(kind, shape, scale=2.0):
    if kind in FLOATS:
        return rng.normal(size=shape) * scale
    if kind == "bool":
        return rng.integers(0, 2, shape)
    return rng.integers(0 if kind == "u8" else -7, 8, shape)


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 3.5, 1e-40, 88.5, -104.0, 1e30]
VIEWS = ("plain", "transposed", "reversed", "every-other")


def wrap(x, kind):
    return np.asarray(x).astype(np.int64).astype(TYPES[kind]) if kind in INTEGERS else x


# ---- Elementwise ----

def erf(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def erfc(x):
    return np.vectorize(math.erfc, otypes=[float])(x)


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def vanishing(x, factor):
    return np.where(x == -np.inf, 0, x * factor)


KEEP = {"abs": np.abs, "neg": np.negative, "sign": np.sign, "square": np.square,
        "relu": lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), "floor": np.floor, "ceil": np.ceil,
        "round": np.rint}
FLOAT = {"sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "exp": np.exp,
         "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p, "sin": np.sin,
         "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
         "cosh": np.cosh, "tanh": np.tanh, "erf": erf, "sigmoid": sigmoid,
         "softplus": lambda x: np.logaddexp(x, 0), "silu": lambda x: vanishing(x, sigmoid(x)),
         "gelu": lambda x: vanishing(x, 0.5 * erfc(-x / math.sqrt(2))),
         "gelu_tanh": lambda x: vanishing(x, sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))}
BOOL = {"logical_not": lambda x: x == 0, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


def unary():
    for op, f in {**KEEP, **FLOAT, **BOOL}.items():
        reseed(op)
        for kind in FLOATS:
            # 1e-40 and 1e30 are not values of every type.
            x = Tensor(kind, SPECIAL)
            case(op, [x], "bool" if op in BOOL else kind, f(x.wide()))
        view = VIEWS[len(op) % 4]
        x = Tensor("f32", values("f32", (3, 5)), view)
        case(op, [x], "bool" if op in BOOL else "f32", f(x.wide()))
        for kind in ("i8", "u8", "i32", "i64"):
            x = Tensor(kind, [0, 1, 2, 5, 100, 127] + ([-1, -128] if kind != "u8" else [255]))
            result = kind if op in KEEP else "bool" if op in BOOL else "f32"
            y = x.wide() if op in KEEP and op in ("floor", "ceil", "round") else f(x.wide())
            case(op, [x], result, wrap(y, kind) if op in KEEP else y)


def floor_mod(a, b):
    return np.mod(a, b)


def int_div(a, b):
    return np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b)))


def int_mod(a, b):
    return np.where(b == 0, 0, np.mod(a, np.where(b == 0, 1, b)))


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
          "pow": np.power, "floor_div": np.floor_divide, "mod": floor_mod}
BINARY_FLOAT = {"div": np.divide, "atan2": np.arctan2}
COMPARE = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
           "greater": np.greater, "greater_equal": np.greater_equal,
           "logical_and": lambda a, b: (a != 0) & (b != 0), "logical_or": lambda a, b: (a != 0) | (b != 0),
           "logical_xor": lambda a, b: (a != 0) ^ (b != 0)}


def binary():
    for index, (op, f) in enumerate({**BINARY, **BINARY_FLOAT, **COMPARE}.items()):
        reseed(op)
        def result(kind):
            if op in COMPARE:
                return "bool"
            return "f32" if op in BINARY_FLOAT and kind not in FLOATS else kind
        for kind in FLOATS:
            a, b = np.meshgrid([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan], [0.0, 2.0, -3.0, np.inf, np.nan])
            a, b = Tensor(kind, a), Tensor(kind, b)
            if op in ("floor_div", "mod"):
                # NumPy's float32 and float64 disagree with each other at infinities.
                a, b = Tensor(kind, values(kind, (4, 3), 8)), Tensor(kind, [2.0, -3.0, 0.75])
            case(op, [a, b], result(kind), f(a.wide(), b.wide()))
        for shapes in (((2, 3), (3,)), ((4, 1), (1, 3)), ((), (2, 2)), ((2, 1, 3), (4, 1)), ((0, 3), (3,))):
            a = Tensor("f32", values("f32", shapes[0]))
            b = Tensor("f32", np.abs(values("f32", shapes[1])) if op == "pow" else values("f32", shapes[1]))
            case(op, [a, b], result("f32"), f(a.wide(), b.wide()))
        a, b = Tensor("f32", values("f32", (4, 4)), VIEWS[index % 4]), Tensor("f32", values("f32", (4, 4)), VIEWS[index % 3])
        case(op, [a, b], result("f32"), f(a.wide(), b.wide())) if index % 4 != 3 else None
        for kind in INTEGERS:
            a, b = Tensor(kind, [1, 2, 5, 7, 100, 0, 3]), Tensor(kind, [1, 3, 2, 7, 3, 5, 0])
            g = {"floor_div": int_div, "mod": int_mod}.get(op, f)
            case(op, [a, b], result(kind), wrap(g(a.wide(), b.wide()), kind) if result(kind) == kind
                 else g(a.wide(), b.wide()))
        if op in ("floor_div", "mod", "sub", "mul"):
            g = {"floor_div": int_div, "mod": int_mod}.get(op, f)
            a, b = Tensor("i32", [7, -7, 7, -7, 6, -6]), Tensor("i32", [2, 2, -2, -2, -3, 3])
            case(op, [a, b], "i32", g(a.wide(), b.wide()))


PROMOTIONS = (("u8", "i8", "i32"), ("i32", "i64", "i64"), ("i64", "f16", "f16"), ("f16", "bf16", "f32"),
              ("bool", "u8", "u8"), ("bool", "bool", "i32"), ("i32", "f32", "f32"), ("u8", "bf16", "bf16"))


def promotion():
    for left, right, result in PROMOTIONS:
        a, b = Tensor(left, [0, 1, 1]), Tensor(right, [1, 1, 0])
        case("add", [a, b], result, a.wide() + b.wide())
    a = Tensor("i64", [2 ** 62, -2 ** 62, 2 ** 53 + 1])
    case("add", [a, a], "i64", [-2 ** 63, -2 ** 63, 2 ** 54 + 2])
    case("less", [a, Tensor("i64", [2 ** 62 + 1, -2 ** 62, 2 ** 53])], "bool", [True, False, False])


def others():
    for kind in FLOATS:
        x = Tensor(kind, SPECIAL)
        w = x.wide()
        case("leaky_relu", [x], kind, np.where(w < 0, 0.01 * w, w), slope=0.01)
        case("clamp", [x], kind, np.where(np.isnan(w), w, np.clip(w, -1, 2)), low=-1, high=2)
    x = Tensor("i32", [-5, 0, 3, 9])
    case("clamp", [x], "i32", np.clip(x.wide(), -2, 3), low=-2, high=3.5)
    for source in TYPES:
        data = [0, 1, -3, 2.75, 100, 300.5, -0.5] if source in FLOATS else [0, 1, 5, 100]
        x = Tensor(source, data)
        for target in TYPES:
            w = x.wide()
            if target == "bool":
                y = w != 0
            elif target in FLOATS:
                y = w
            elif source in FLOATS:
                info = np.iinfo(TYPES[target])
                y = np.clip(np.trunc(w), info.min, info.max)
            else:
                y = wrap(w, target)
            case("cast", [x], target, y, type=target)
    case("cast", [Tensor("f32", [np.nan, np.inf, -np.inf])], "i32", [0, 2 ** 31 - 1, -2 ** 31], type="i32")
    case("cast", [Tensor("f32", [np.nan, 1e10, -1e10])], "i8", [0, 127, -128], type="i8")
    for view in VIEWS:
        for kind in TYPES:
            x = Tensor(kind, values(kind, (3, 4)), view)
            case("copy", [x], kind, x.seen())
    c, a, b = Tensor("bool", [[1], [0]]), Tensor("f32", values("f32", (2, 3))), Tensor("i32", [7, 8, 9])
    case("where", [c, a, b], "f32", np.where(c.wide() != 0, a.wide(), b.wide()))
    c = Tensor("f32", [0, np.nan, -0.0, 2])
    case("where", [c, Tensor("i64", [1, 2, 3, 4]), Tensor("i64", [-1, -2, -3, -4])], "i64", [-1, 2, -3, 4])


# ---- Reductions ----

def variance(x, axis, keepdims):
    return np.var(x, axis=axis, keepdims=keepdims)


def norm(x, axis, keepdims):
    return np.sqrt(np.sum(np.square(x.astype(np.float64)), axis=axis, keepdims=keepdims))


REDUCE = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "max": np.max, "min": np.min, "variance": variance,
          "norm": norm, "any": lambda x, axis, keepdims: np.any(x != 0, axis=axis, keepdims=keepdims),
          "all": lambda x, axis, keepdims: np.all(x != 0, axis=axis, keepdims=keepdims)}


def reduced_type(op, kind):
    if op in ("any", "all"):
        return "bool"
    if op in ("sum", "prod"):
        return kind if kind in FLOATS else "i64"
    if op in ("mean", "variance", "norm"):
        return kind if kind in FLOATS else "f32"
    return kind


def reductions():
    for index, (op, f) in enumerate(REDUCE.items()):
        reseed(op)
        for kind in TYPES:
            x = Tensor(kind, values(kind, (2, 3, 4), 1.0))
            every = ((None, False), ((0,), False), ((2,), True), ((0, 2), False), ((-2,), True))
            for axes, keep in every if kind == "f32" else (every[index % 5], every[2]):
                keys = {"axes": ",".join(map(str, axes))} if axes else {}
                case(op, [x], reduced_type(op, kind), f(x.wide(), axis=axes, keepdims=keep), keep=int(keep), **keys)
        for view in VIEWS:
            x = Tensor("f32", values("f32", (3, 4), 1.0), view)
            case(op, [x], reduced_type(op, "f32"), f(x.wide(), axis=(1,), keepdims=False), axes="1")
        x = Tensor("f32", [[1, np.nan, 3], [np.inf, 2, -np.inf], [np.inf, 1, 2]])
        case(op, [x], reduced_type(op, "f32"), f(x.wide(), axis=(1,), keepdims=False), axes="1")
        if op not in ("max", "min"):
            x = Tensor("f32", np.zeros((2, 0)))
            empty = {"sum": 0, "prod": 1, "mean": np.nan, "variance": np.nan, "norm": 0, "any": False, "all": True}
            case(op, [x], reduced_type(op, "f32"), np.full(2, empty[op]), axes="1")
    x = Tensor("f32", values("f32", (3, 4)))
    case("variance", [x], "f32", np.var(x.wide(), axis=1, ddof=1), axes="1", correction=1)
    case("norm", [x], "f32", np.sum(np.abs(x.wide()), axis=0), axes="0", order=1)
    case("norm", [x], "f32", np.max(np.abs(x.wide())), order="inf")
    for op, f in (("argmax", np.argmax), ("argmin", np.argmin)):
        for kind in TYPES:
            x = Tensor(kind, values(kind, (3, 7)))
            case(op, [x], "i64", f(x.wide(), axis=1), axes="1")
            case(op, [x], "i64", np.expand_dims(f(x.wide(), axis=0), 0), axes="0", keep=1)
            case(op, [x], "i64", f(x.wide()))
        x = Tensor("f32", [1, np.nan, 5, np.nan, -9])
        case(op, [x], "i64", 1)
    for kind in TYPES:
        x = Tensor(kind, values(kind, (3, 4), 1.0))
        for axis in (0, 1):
            case("cumsum", [x], kind if kind in FLOATS else "i64", np.cumsum(x.wide(), axis=axis), axis=axis)


# ---- Products ----

def products():
    for kind in ("f32", "f16", "bf16", "i8", "u8", "i32", "i64"):
        result = kind if kind in FLOATS or kind == "i64" else "i32"
        for left, right in (((3, 4), (4, 5)), ((2, 3, 4), (4, 2)), ((2, 1, 3, 2), (4, 2, 3)), ((4,), (4, 3)),
                            ((3, 4), (4,)), ((5,), (5,)), ((2, 0), (0, 3)), ((0, 3), (3, 2))):
            a, b = Tensor(kind, values(kind, left, 1.0)), Tensor(kind, values(kind, right, 1.0))
            case("matmul", [a, b], result, np.matmul(a.wide(), b.wide()))
    a, b = Tensor("f32", values("f32", (4, 3)), "transposed"), Tensor("f32", values("f32", (4, 10)), "every-other")
    case("matmul", [a, b], "f32", a.wide() @ b.wide())
    a, b = Tensor("f32", values("f32", (3, 4)), "reversed"), Tensor("f32", values("f32", (5, 4)), "transposed")
    c = Tensor("f32", values("f32", (5,)))
    case("matmul", [a, b, c], "f32", 0.5 * (a.wide() @ b.wide()) - 2 * c.wide(), alpha=0.5, beta=-2)
    a, b = Tensor("f32", values("f32", 6)), Tensor("f32", values("f32", 6))
    case("dot", [a, b], "f32", np.dot(a.wide(), b.wide()))
    case("outer", [a, b], "f32", np.outer(a.wide(), b.wide()))
    m = Tensor("f32", values("f32", (2, 6)))
    case("matvec", [m, a], "f32", m.wide() @ a.wide())


# ---- Normalisation ----

def softmax(x, axis):
    most = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isneginf(most), 0, most))
    total = np.sum(e, axis=axis, keepdims=True)
    return np.where(np.isneginf(most), 0, e / total)


def log_softmax(x, axis):
    most = np.max(x, axis=axis, keepdims=True)
    shifted = x - np.where(np.isneginf(most), 0, most)
    return np.where(np.isneginf(most), -np.inf, shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))


def normalisation():
    for kind in FLOATS:
        for shape, axis in (((3, 5), 1), ((3, 5), 0), ((2, 3, 4), -2), ((7,), 0)):
            x = Tensor(kind, values(kind, shape, 3))
            case("softmax", [x], kind, softmax(x.wide(), axis), axis=axis)
            case("log_softmax", [x], kind, log_softmax(x.wide(), axis), axis=axis)
        x = Tensor(kind, [[1e4, 1e4, -1e4], [-np.inf, -np.inf, -np.inf], [0, -np.inf, 1], [np.nan, 1, 2]])
        case("softmax", [x], kind, softmax(x.wide(), 1), axis=1)
        case("log_softmax", [x], kind, log_softmax(x.wide(), 1), axis=1)
        x, w, b = (Tensor(kind, values(kind, s)) for s in ((2, 3, 8), (8,), (8,)))
        y = x.wide()
        centred = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
        scaled = y / np.sqrt(np.mean(np.square(y), -1, keepdims=True) + 1e-6)
        case("layer_norm", [x, w, b], kind, centred * w.wide() + b.wide(), epsilon=1e-5)
        case("layer_norm", [x], kind, centred, epsilon=1e-5)
        case("rms_norm", [x, w], kind, scaled * w.wide(), epsilon=1e-6)
        case("rms_norm", [x], kind, scaled, epsilon=1e-6)
    x = Tensor("i32", [[1, 2, 3]])
    case("softmax", [x], "f32", softmax(x.wide().astype(float), 1), axis=1)


# ---- Moving elements ----

def moving():
    for kind in TYPES:
        x = Tensor(kind, values(kind, (3, 4)))
        index = Tensor("i64", [[0, 2, -1], [1, 0, 0]])
        case("gather", [x, index], kind, np.take_along_axis(x.seen()[:2], np.mod(index.seen(), 4), 1), axis=1)
        index = Tensor("i32", [[2, 0, 1, -3]])
        case("gather", [x, index], kind, np.take_along_axis(x.seen(), np.mod(index.seen(), 3), 0), axis=0)
        index = Tensor("i64", [2, 0, 0, -1])
        case("index_select", [x, index], kind, x.seen()[[2, 0, 0, 2]], axis=0)
        case("index_select", [x, index], kind, x.seen()[:, [2, 0, 0, 3]], axis=1)
        index, source = Tensor("i64", [[3, 1], [0, 2]]), Tensor(kind, values(kind, (2, 2)))
        y = np.array(x.seen())
        np.put_along_axis(y[:2], index.seen(), source.seen(), 1)
        case("scatter", [x, index, source], kind, y, axis=1)
        if kind != "bool":
            y = x.wide()
            for i in range(2):
                for j in range(2):
                    y[0, j] += source.wide()[i, j]
            zeros = Tensor("i32", [[0, 0], [0, 0]])
            case("scatter", [x, zeros, source], kind, wrap(y, kind), axis=0, add=1)
        a, b = Tensor(kind, values(kind, (2, 3))), Tensor(kind, values(kind, (1, 3)))
        case("concatenate", [a, b, a], kind, np.concatenate([a.seen(), b.seen(), a.seen()]), axis=0)
        case("pad", [a], kind, np.pad(a.seen(), ((1, 0), (2, 3)), constant_values=1), before="1,2", after="0,3", value=1)
        for axis in (0, 1):
            x = Tensor(kind, values(kind, (5, 7)), "plain")
            order = np.argsort(x.seen(), axis=axis, kind="stable")
            case("sort", [x], kind, np.take_along_axis(x.seen(), order, axis), axis=axis)
            case("argsort", [x], "i64", order, axis=axis)
            down = np.flip(x.seen().shape[axis] - 1 - np.argsort(np.flip(x.seen(), axis), axis=axis, kind="stable"), axis)
            case("argsort", [x], "i64", down, axis=axis, descending=1)
            top = np.take(down, range(3), axis)
            case("top_k", [x], kind, np.take_along_axis(x.seen(), top, axis), axis=axis, k=3)
    case("concatenate", [Tensor("i8", [1, 2]), Tensor("f32", [0.5])], "f32", [1, 2, 0.5], axis=0)
    x = Tensor("f32", [3, np.nan, -np.inf, 1, np.inf, np.nan, -0.0, 0.0])
    case("sort", [x], "f32", np.sort(x.wide()), axis=0)
    case("argsort", [x], "i64", [2, 6, 7, 3, 0, 4, 1, 5], axis=0)
    case("argsort", [x], "i64", [1, 5, 4, 0, 3, 6, 7, 2], axis=0, descending=1)


# ---- New tensors ----

def philox(seed, counter):
    key, words = [seed & 0xffffffff, seed >> 32], [counter & 0xffffffff, counter >> 32, 0, 0]
    for _ in range(10):
        p0, p1 = words[0] * 0xd2511f53, words[2] * 0xcd9e8d57
        words = [p1 >> 32 ^ words[1] ^ key[0], p1 & 0xffffffff, p0 >> 32 ^ words[3] ^ key[1], p0 & 0xffffffff]
        key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
    return words


# Known answers of the authors' Random123 for Philox 4x32-10.
assert philox(0, 0) == [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]


def generated():
    for kind in TYPES:
        case("fill", [], kind, np.full((2, 3), 1), type=kind, shape="2x3", value=1)
        case("arange", [], kind, np.arange(6) * 1.0 if kind != "bool" else np.arange(6) != 0, type=kind, start=0,
             step=1, count=6)
    case("fill", [], "u8", np.full(4, 255), type="u8", shape="4", value=1000)
    case("arange", [], "f32", 1.5 - 0.25 * np.arange(5), type="f32", start=1.5, step=-0.25, count=5)
    case("arange", [], "i64", [2 ** 60, 2 ** 60 + 1], type="i64", start=2 ** 60, step=1, count=2)
    seed, first = 0x123456789abcdef0, 5
    words = [philox(seed, i // 4)[i % 4] for i in range(first, first + 10)]
    for kind, bits in (("f32", 24), ("f16", 11), ("bf16", 8)):
        u = np.array([w >> (32 - bits) for w in words]) / 2.0 ** bits
        case("random_uniform", [], kind, u, type=kind, shape="10", seed=seed, position=first, low=0, high=1)
        case("random_uniform", [], kind, u * 4 - 2, type=kind, shape="10", seed=seed, position=first, low=-2, high=2)
    normal = []
    for i in range(12):
        pair = philox(seed, i // 4)[i % 4 & 2:][:2]
        radius = math.sqrt(-2 * math.log(((pair[0] >> 8) + 1) / 2 ** 24))
        angle = 2 * math.pi * (pair[1] >> 8) / 2 ** 24
        normal.append(radius * (math.sin(angle) if i & 1 else math.cos(angle)))
    for kind in FLOATS:
        case("random_normal", [], kind, 1 + 2 * np.array(normal), type=kind, shape="12", seed=seed, position=0, mean=1,
             deviation=2)


# ---- Convolution and pooling ----

def conv2d(x, w, bias, stride, padding, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    n, _, height, width = x.shape
    out_channels, channels, kh, kw = w.shape
    oh = (height - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (width - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((n, out_channels, oh, ow), x.dtype)
    for o in range(out_channels):
        start = o // (out_channels // groups) * channels
        for i in range(kh):
            for j in range(kw):
                part = x[:, start:start + channels, i * dilation[0]:, j * dilation[1]:]
                part = part[:, :, ::stride[0], ::stride[1]][:, :, :oh, :ow]
                y[:, o] += np.sum(part * w[o, :, i, j][None, :, None, None], axis=1)
        if bias is not None:
            y[:, o] += bias[o]
    return y


def pool2d(x, window, stride, padding, f, fill):
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), constant_values=fill)
    oh, ow = ((x.shape[2 + d] - window[d]) // stride[d] + 1 for d in (0, 1))
    y = np.zeros((*x.shape[:2], oh, ow))
    for i in range(oh):
        for j in range(ow):
            part = x[:, :, i * stride[0]:i * stride[0] + window[0], j * stride[1]:j * stride[1] + window[1]]
            y[:, :, i, j] = f(part, axis=(2, 3))
    return y


def convolution():
    def pair(p):
        return f"{p[0]},{p[1]}"
    for kind in ("f32", "f16", "bf16", "i8", "i64"):
        result = kind if kind in FLOATS or kind == "i64" else "i32"
        for stride, padding, dilation, groups in (((1, 1), (0, 0), (1, 1), 1), ((2, 1), (1, 2), (1, 2), 2)):
            x, w = Tensor(kind, values(kind, (2, 4, 5, 6), 1)), Tensor(kind, values(kind, (4, 4 // groups, 3, 2), 1))
            b = Tensor(kind, values(kind, (4,)))
            keys = dict(stride=pair(stride), padding=pair(padding), dilation=pair(dilation), groups=groups)
            case("conv2d", [x, w, b], result, conv2d(x.wide(), w.wide(), b.wide(), stride, padding, dilation, groups), **keys)
    x, w = Tensor("f32", values("f32", (1, 2, 9))), Tensor("f32", values("f32", (3, 2, 3)))
    y = conv2d(x.wide()[:, :, None], w.wide()[:, :, None], None, (1, 2), (0, 1), (1, 1), 1)[:, :, 0]
    case("conv1d", [x, w], "f32", y, stride="1,2", padding="0,1")
    for kind in ("f32", "f16", "i32"):
        x = Tensor(kind, values(kind, (1, 2, 5, 6)))
        most = pool2d(x.wide(), (2, 3), (2, 1), (1, 1), np.max, -np.inf)
        case("max_pool2d", [x], kind, most, window="2,3", stride="2,1", padding="1,1")
        mean = pool2d(x.wide(), (2, 3), (2, 3), (1, 1), np.nanmean, np.nan)
        case("avg_pool2d", [x], kind if kind in FLOATS else "f32", mean, window="2,3", padding="1,1")
    x = Tensor("f32", values("f32", (2, 2, 7)))
    case("max_pool1d", [x], "f32", pool2d(x.wide()[:, :, None], (1, 3), (1, 2), (0, 0), np.max, 0)[:, :, 0], window="1,3",
         stride="1,2")
    case("avg_pool1d", [x], "f32", pool2d(x.wide()[:, :, None], (1, 2), (1, 2), (0, 0), np.mean, 0)[:, :, 0], window="1,2")


# ---- Transformers ----

def rope(x, position, base, dims, interleaved, scale):
    """x [sequence, heads, dim]"""
    y, half = np.array(x), dims // 2
    angle = (position + np.arange(x.shape[0]))[:, None] * scale * base ** (-2.0 * np.arange(half) / dims)
    c, s = np.cos(angle)[:, None, :], np.sin(angle)[:, None, :]
    first, second = (slice(0, dims, 2), slice(1, dims, 2)) if interleaved else (slice(0, half), slice(half, dims))
    y[..., first] = x[..., first] * c - x[..., second] * s
    y[..., second] = x[..., first] * s + x[..., second] * c
    return y


def seen_keys(queries, keys, causal, window, position):
    at, key = position + np.arange(queries)[:, None], np.arange(keys)[None, :]
    seen = np.ones((queries, keys), bool)
    if causal or window:
        seen &= key <= at
    if window:
        seen &= key > at - window
    return seen


def masked_softmax(x, seen):
    x = np.where(seen, x, -np.inf)
    most = x.max(axis=-1, keepdims=True)
    e = np.where(seen & (x != -np.inf), np.exp(x - np.where(np.isinf(most), 0, most)), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def scores(q, k, scale):
    """[heads, queries, keys]"""
    each = q.shape[1] // k.shape[1]
    return np.einsum("qhd,khd->hqk", q, np.repeat(k, each, axis=1)) * scale


def weighted_sum(weights, v):
    return np.einsum("hqk,khd->qhd", weights, np.repeat(v, weights.shape[0] // v.shape[1], axis=1))


def transformers():
    for kind in FLOATS:
        for interleaved, dims, base, position, scale in ((0, 8, 10000, 0, 1), (1, 8, 10000, 7, 1), (0, 6, 500000, 1000, 1),
                                                         (1, 4, 10000, 100000, 0.25)):
            x = Tensor(kind, values(kind, (5, 2, 8)))
            case("rope", [x], kind, rope(x.wide(), position, base, dims, interleaved, scale), interleaved=interleaved,
                 dims=dims, base=base, position=position, scale=scale)
        for queries, keys, heads, key_heads, causal, window, position in (
                (4, 4, 2, 2, 1, 0, 0), (1, 9, 4, 1, 1, 0, 8), (5, 7, 4, 2, 0, 0, 0), (6, 6, 3, 3, 1, 2, 0),
                (3, 5, 8, 1, 1, 3, 2)):
            # The exponential magnifies the rounding of large scores.
            q = Tensor(kind, values(kind, (queries, heads, 6), 1.0))
            k = Tensor(kind, values(kind, (keys, key_heads, 6), 1.0))
            v = Tensor(kind, values(kind, (keys, key_heads, 6)))
            s = scores(q.wide(), k.wide(), 6 ** -0.5)
            weights = masked_softmax(s, seen_keys(queries, keys, causal, window, position))
            case("attention", [q, k, v], kind, weighted_sum(weights, v.wide()), causal=causal, window=window,
                 position=position)
            if not window:
                w = Tensor(kind, weights)
                case("attention_scores", [q, k], kind, s)
                case("weighted_sum", [w, v], kind, weighted_sum(w.wide(), v.wide()))
        x = Tensor(kind, values(kind, (2, 3, 5)))
        keep = Tensor("bool", rng.integers(0, 2, (3, 5)) * [[1], [0], [1]])
        add = Tensor(kind, np.where(rng.integers(0, 4, (3, 5)) == 0, -np.inf, rng.normal(size=(3, 5))))
        everything = np.ones((3, 5), bool)
        case("masked_softmax", [x, keep], kind, masked_softmax(0.5 * x.wide(), keep.seen().astype(bool)), scale=0.5)
        case("masked_softmax", [x, add], kind, masked_softmax(x.wide() + add.wide(), everything), scale=1)
        case("masked_softmax", [x], kind, masked_softmax(x.wide(), seen_keys(3, 5, 1, 0, 1)), scale=1, causal=1, position=1)
        a, b = Tensor(kind, values(kind, (3, 7))), Tensor(kind, values(kind, (3, 7)))
        case("silu_mul", [a, b], kind, a.wide() * sigmoid(a.wide()) * b.wide())
        table, tokens = Tensor(kind, values(kind, (6, 4))), Tensor("i32", rng.integers(0, 6, (2, 3)))
        case("embedding", [table, tokens], kind, table.wide()[tokens.stored])


def everything():
    for part in (unary, binary, promotion, others, reductions, products, normalisation, moving, generated, convolution,
                 transformers):
        print("#", part.__name__)
        reseed(part.__name__)
        part()


# The file is written only when all of it has been computed.
text = io.StringIO()
with contextlib.redirect_stdout(text):
    everything()
pathlib.Path(__file__).with_name("goldens.txt").write_text(text.getvalue())
