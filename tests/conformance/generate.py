#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers that .expect files refer to as @name, computed with NumPy and plain Python, never with Ingot.

generate.py writes NAME.values beside each NAME.expect that needs one; the results are committed.
"""
import functools
import os
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {}


def values(file):
    """Decorator: the function's result is what @NAME of FILE.expect stands for."""
    def keep(function):
        FILES.setdefault(file, []).append((function.__name__, function))
        return function
    return keep


def rnd(seed, index):
    """The runner's rnd(seed, i), for arrays."""
    with np.errstate(over="ignore"):
        h = np.asarray(index).astype(np.uint32) * np.uint32(0x9E3779B9) + np.uint32(seed) * np.uint32(0x85EBCA6B)
        for _ in range(2):
            h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
            h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
            h = h ^ (h >> np.uint32(16))
    return (h >> np.uint32(8)).astype(np.float64) / 2.0**23 - 1


def random(seed, *shape):
    return rnd(seed, np.arange(int(np.prod(shape)))).reshape(shape).astype(np.float32).astype(np.float64)


# ---- language/control-flow ----

@values("language/control-flow")
def switch_in_a_loop():
    def one(a):
        state = steps = 0
        while steps < 50:
            if state == 0:
                state = a % 3 + 1
                steps += 1
                continue
            if state == 1:
                state = 9 if steps > 10 else 2
            elif state == 2:
                state = 3
            elif state == 3:
                state = 1 if a % 2 else 9
            elif state == 9:
                return steps * 10 + state
            if state == 9 and a % 5 == 0:
                break
            steps += 1
        return steps * 100 + state
    return [one(a) for a in range(30)]


# ---- compute/barriers ----

def unsorted(start):
    return [i * 7919 % 1009 - 500 for i in range(start, start + 128)]


@values("compute/barriers")
def sorted_first():
    return sorted(unsorted(0))


@values("compute/barriers")
def sorted_second():
    return sorted(unsorted(128))


# ---- compute/atomics ----

@values("compute/atomics")
def odd_product():
    product = 1
    for i in range(100):
        product = product * (2 * i + 1) % 2**32
    return [product]


# ---- simdgroup/divergence ----

@values("simdgroup/divergence")
def nested_loops():
    total = [0] * 32
    for a in range(4):
        for b in range(3):
            present = [l for l in range(32) if a < l % 4 and b <= l % 3]
            for l in present:
                total[l] = total[l] * 3 % 1009 + len(present)
    return total


# ---- language/private ----

@values("language/private")
def explicit_stack():
    def one(i):
        stack, total = [1 + i % 3], 0
        while stack:
            node = stack.pop()
            if node >= 64:
                continue
            total += node + 1
            if (node + i) % 4 != 0:
                stack.append(2 * node)
            stack.append(2 * node + 1)
        return total
    return [one(i) for i in range(24)]


@values("language/private")
def small_types():
    data = [i * i % 251 for i in range(64)]

    def one(i):
        row = [data[(i * 5 + k) % 64] for k in range(32)]
        halves = [row[k * 4] * 0.5 for k in range(8)]
        return len({v % 16 for v in row}) * 1000 + int(halves[row[0] % 8])
    return [one(i) for i in range(30)]


@values("language/private")
def pointer_into_array():
    def one(i):
        a, b = list(range(8)), list(range(10, 18))
        p = a if i % 2 else b
        p[i % 4] = 99
        p[i % 4 + 1] *= 2
        return sum(a[k] * (k + 1) + b[k] for k in range(8))
    return [one(i) for i in range(16)]


# ---- programs/transformer ----

def softmax_of(x):
    with np.errstate(invalid="ignore"):
        largest = x.max(axis=-1, keepdims=True)
        e = np.where(np.isinf(largest), 0.0, np.exp(x - largest))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0)


@values("programs/transformer")
def softmax():
    x = random(1, 5, 100) * 5
    x[3] = -np.inf
    x[4, np.arange(100) % 3 != 0] = -np.inf
    return softmax_of(np.float64(np.float32(x)))


@values("programs/transformer")
def softmax_wide():
    return softmax_of(np.float64(np.float32(random(2, 2, 1300) * 20 + 1000)))


@values("programs/transformer")
def softmax_thread():
    return softmax_of(np.float64(np.float32(random(3, 12, 33) * 8)))


@values("programs/transformer")
def rmsnorm():
    x, weight = random(4, 4, 300) * 3, 1 + random(5, 300) / 2
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * weight


@values("programs/transformer")
def layernorm():
    x, weight, bias = np.float64(np.float32(random(6, 4, 256) * 3 + 10)), 1 + random(7, 256) / 2, random(8, 256)
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * weight + bias


@values("programs/transformer")
def rope():
    q, j = random(9, 3, 32), np.arange(16)
    angle = 17 * 10000.0 ** (-2 * j / 32)
    a, b = q[:, :16], q[:, 16:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=1)


@values("programs/transformer")
def attention():
    q, k, v = random(14, 6, 32) * 2, random(15, 25, 32) * 2, random(16, 25, 32)
    return softmax_of(q @ k.T / np.sqrt(32)) @ v


@values("programs/transformer")
def dequantise_dot():
    x = np.arange(1280) % 11 - 5
    out = []
    for row in range(6):
        total = 0.0
        for column in range(40):
            b = row * 40 + column
            quants = np.array([(b * k * 7 + b + k * 3) % 16 - 8 for k in range(32)])
            total += (b % 9 + 1) / 16 * float(quants @ x[32 * column:32 * column + 32])
        out.append(total)
    return out


# ---- programs/simulation ----

@values("programs/simulation")
def nbody():
    b = random(1, 100, 8)
    b[:, 3] = 1 + b[:, 3] / 2
    b[:, 7] = 0
    position, mass, velocity = b[:, :3], b[:, 3], b[:, 4:7]
    d = position[None] - position[:, None]
    r2 = (d * d).sum(axis=2) + 0.01
    velocity = velocity + (d * (mass[None] / r2**1.5)[:, :, None]).sum(axis=1) * 0.01
    return np.concatenate([position + velocity * 0.01, mass[:, None], velocity, np.zeros((100, 1))], axis=1)


@values("programs/simulation")
def mandelbrot():
    # In double from the kernel's float c: no pixel of this picture depends on the rounding of a step.
    y, x = np.mgrid[0:48, 0:64].astype(np.float32)
    cx = (x / np.float32(64) * np.float32(3) - np.float32(2)).astype(np.float64)
    cy = (y / np.float32(48) * np.float32(2) - np.float32(1)).astype(np.float64)
    zx, zy, count = np.zeros_like(cx), np.zeros_like(cy), np.zeros(cx.shape, int)
    for _ in range(100):
        alive = zx * zx + zy * zy < 4
        count += alive
        zx, zy = np.where(alive, zx * zx - zy * zy + cx, zx), np.where(alive, 2 * zx * zy + cy, zy)
    return count


@values("programs/simulation")
def monte_carlo():
    def one(i):
        s, inside = (i * 747796405 + 2891336453) % 2**32, 0
        for _ in range(200):
            s ^= s << 13 & 0xFFFFFFFF
            s ^= s >> 17
            s ^= s << 5 & 0xFFFFFFFF
            x, y = s >> 16, s & 0xFFFF
            inside += x * x // 4 + y * y // 4 < 0x40000000
        return inside
    return [one(i) for i in range(100)]


@values("programs/simulation")
def sha_like_mix():
    mask = 0xFFFFFFFF

    def rotate(x, by):
        return (x << by | x >> (32 - by)) & mask

    out = []
    for i in range(40):
        w = [(16 * i + t) * 2654435761 & mask for t in range(16)]
        a, b, c, d = 0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A
        for t in range(64):
            x = w[t & 15]
            w[t & 15] = (x + (rotate(x, 25) ^ rotate(x, 14) ^ x >> 3) + w[(t + 9) & 15]) & mask
            e = (d + w[t & 15] + ((a & b) ^ (~a & mask & c)) + rotate(a, 26)) & mask
            a, b, c, d = e, rotate(a, 30), b, c
        out += [a ^ c, (b + d) & mask]
    return out


# ---- language/loop-values ----

@values("language/loop-values")
def continue_with_value():
    def one(i):
        skipped = kept = 0
        for k in range(30):
            r = k * (i + 1) % 7
            if r == 0:
                skipped = k
                continue
            if r > 4 and k > i % 20:
                break
            kept = kept * 2 % 1000 + r
        return skipped * 1000 + kept
    return [one(i) for i in range(60)]


@values("language/loop-values")
def four_deep():
    def one(i):
        n = 0
        for a in range(2 + i % 2):
            for b in range(a, 4):
                if b == 2 and i % 5 == 0:
                    continue
                for c in range(b):
                    if c == 1 and i % 3 == 0:
                        break
                    for d in range(c + 1):
                        n += 101 if a + b + c + d == i % 7 else 1
        return n
    return [one(i) for i in range(70)]


@values("language/loop-values")
def collatz_record():
    def steps(v):
        n = 0
        while v != 1:
            v, n = (3 * v + 1 if v & 1 else v // 2), n + 1
        return n
    out = []
    for i in range(30):
        best = (0, 0)
        for start in range(i * 10 + 1, i * 10 + 11):
            if steps(start) > best[1]:
                best = (start, steps(start))
        out += best
    return out


# ---- language/mixed-types ----

@values("language/mixed-types")
def ulong_division():
    out = []
    for i in range(30):
        a, b = (i + 1) * 0x9E3779B97F4A7C15 % 2**64, 0 if i % 5 == 0 else i * 0x123456789 % 2**64 >> i
        out += [a // b, a % b] if b else [0, 1]
    return np.array(out, dtype=object)


@values("language/mixed-types")
def bit_twiddling():
    out = []
    for i in range(80):
        v = (i * 0x9E3779B9 + 12345) % 2**32
        v ^= v << 13 & 0xFFFFFFFF
        v ^= v >> 17
        v ^= v << 5 & 0xFFFFFFFF
        low = v | 0x80000000
        r = bin(v).count("1") + (32 - v.bit_length()) * 100 + (low & -low).bit_length() * 10000 - 10000
        out.append(r ^ (int(format(v, "032b")[::-1], 2) >> 16 if v & 4 else 0))
    return out


# ---- simdgroup/uniformity ----

@values("simdgroup/uniformity")
def ballot_bits():
    out = []
    for first in (0, 32):
        total = 0
        for k in range(first, first + 32):
            if k * 7 % 9 > 2:
                total = total * 3 % 10007 + k * 7 % 9
        out += [total] * 32
    return out


# ---- compute/threadgroup-patterns ----

@values("compute/threadgroup-patterns")
def nested_barriers():
    out = []
    for group in range(4):
        v = list(range(50))
        for a in range(2 + group % 3):
            for b in range(a + 1):
                if a == 2 and b == 1:
                    v = [-1] * 50
                    break
                v = [v[(l + b + 1) % 50] + a for l in range(50)]
            if v[0] == -1:
                break
        out += v
    return out


# ---- compute/neighbours-in-threadgroups ----

@values("compute/neighbours-in-threadgroups")
def suffix():
    out = []
    for group in range(2):
        v, step = [(256 * group + l) * 5 % 17 for l in range(256)], 1
        while step < 256:
            v = [v[l] + (v[l + step] if l + step < 256 else 1) for l in range(256)]
            step *= 2
        out += v
    return out


@values("compute/neighbours-in-threadgroups")
def tree():
    out = []
    for group in range(2):
        v, step = [(256 * group + l) * 37 % 1009 for l in range(256)], 128
        while step:
            v = [max(v[l], v[l + step]) if l < step else v[l] for l in range(256)]
            step //= 2
        out += v
    return out


@values("compute/neighbours-in-threadgroups")
def turns():
    out = []
    for group in range(2):
        a = [(256 * group + l) * 3 % 251 for l in range(256)]
        b = [v + 1 for v in a]
        for step in (1, 4, 7):
            a, b = [b[l - 3 if l > 2 else l] for l in range(256)], [a[(l + step) & 255] for l in range(256)]
        out += [a[l] * 65536 + b[255 - l] for l in range(256)]
    return out


# ---- language/functions ----

def generated(i):
    state, n = i, 0

    def following():
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return state >> 16
    while following() % 4 != 0 and n < 20:
        n += 1
    word = following()
    return n * 100000 + word, (following() & 0xFF) / 256


@values("language/functions")
def generator_words():
    return [generated(i)[0] for i in range(60)]


@values("language/functions")
def generator_units():
    return [generated(i)[1] for i in range(60)]


# ---- programs/algorithms ----

@values("programs/algorithms")
def fft():
    x = random(1, 3, 64, 2)
    y = np.fft.fft(x[:, :, 0] + 1j * x[:, :, 1], axis=1)
    return np.stack([y.real, y.imag], axis=-1)


@values("programs/algorithms")
def nearest():
    points, centres = random(2, 200, 2) * 10, random(3, 7, 2) * 10
    return ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


@values("programs/algorithms")
def inverses():
    return np.linalg.inv(np.float64(np.float32(random(4, 20, 4, 4) + 3 * np.eye(4))))


@values("programs/algorithms")
def crc():
    data = np.array([(i * i + 7) % 256 for i in range(320)], dtype=np.uint8).reshape(16, 20)
    return [zlib.crc32(data[i, :20 - i % 4].tobytes()) for i in range(16)]


@values("programs/algorithms")
def distances():
    words = ["kitten", "sitting", "sunday", "saturday", "a"]

    def distance(a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(distance(a[1:], b[1:]) + (a[0] != b[0]), distance(a[1:], b) + 1, distance(a, b[1:]) + 1)
    distance = functools.lru_cache(None)(distance)
    return [distance(a, b) for b in words for a in words]


@values("programs/algorithms")
def resized():
    image = np.array([i * i % 17 for i in range(117)], dtype=float).reshape(9, 13)
    out = np.zeros((20, 30))
    for y in range(20):
        for x in range(30):
            fx, fy = (x + 0.5) * 13 / 30 - 0.5, (y + 0.5) * 9 / 20 - 0.5
            x0, y0 = int(np.floor(fx)), int(np.floor(fy))
            for dy in (0, 1):
                for dx in (0, 1):
                    weight = (fx - x0 if dx else 1 - fx + x0) * (fy - y0 if dy else 1 - fy + y0)
                    out[y, x] += weight * image[min(max(y0 + dy, 0), 8), min(max(x0 + dx, 0), 12)]
    return out


@values("programs/algorithms")
def products():
    out = []
    for i in range(20):
        a = sum((4 * i + k) * 2654435761 % 2**32 + 1 << 32 * k for k in range(4))
        b = sum((4 * i + k) * 2246822519 % 2**32 + 99 << 32 * k for k in range(4))
        out += [a * b >> 32 * k & 0xFFFFFFFF for k in range(8)]
    return out


@values("programs/algorithms")
def depths():
    centres = random(5, 6, 3) * np.array([3, 3, 1]) + np.array([0, 0, 4])
    out = np.full((16, 24), 100.0)
    for y in range(16):
        for x in range(24):
            d = np.array([(x + 0.5) / 24 * 2 - 1, (y + 0.5) / 16 * 2 - 1, 1.5])
            d /= np.sqrt(d @ d)
            for c in centres:
                along = c @ d
                miss = c @ c - along * along
                if along >= 0 and miss <= 1:
                    out[y, x] = min(out[y, x], along - np.sqrt(1 - miss))
    return out


# ---- language/constant-loops ----

def as_int(value):
    return (value + 2**31) % 2**32 - 2**31


def rounds(count, factor):
    s = 0
    for k in range(count):
        s = s * factor + k % 2
    return s


@values("language/constant-loops")
def rounds_63():
    return [as_int(rounds(63, 3) + i) for i in range(40)]


@values("language/constant-loops")
def rounds_64():
    return [as_int(rounds(64, 5))] * 40


@values("language/constant-loops")
def rounds_65():
    return [as_int(rounds(65, 7))] * 40


@values("language/constant-loops")
def nested_four_deep():
    out = []
    for i in range(77):
        s = 0
        for a in range(2):
            for b in range(3):
                for c in range(b, 3):
                    for d in range(2):
                        s = (s * 2 + a + b * c + d + i) % 10007
        out.append(s)
    return out


@values("language/constant-loops")
def long_outer_loop():
    out = []
    for i in range(77):
        acc = [1, 2, 3, 4]
        for r in range(200):
            for c in range(4):
                acc[c] = (acc[c] * 3 + (4 * (r % 5) + c) ** 2 + i) & 0xFFFF
        out.append(acc[0] ^ acc[1] ^ acc[2] ^ acc[3])
    return out


@values("language/constant-loops")
def varying_continue_and_return():
    out = []
    for i in range(77):
        s = 0
        for k in range(9):
            if (k + i) % 3 == 0:
                continue
            if i % 13 == 5 and k == 6:
                s = -1
                break
            s = s * 2 + k
        out.append(s)
    return out


@values("language/constant-loops")
def break_from_the_inner():
    out = []
    for i in range(77):
        s = 0
        for r in range(5):
            for c in range(5):
                if c * r > i % 9:
                    break
                s += 1 + r * c
            if s > 20 and r == 3:
                break
        out.append(s)
    return out


@values("language/constant-loops")
def vectors_anywhere():
    out, same = [], 5
    for i in range(77):
        at = i * 7
        v = [[k, i, k + 10, 1] for k in range(3)]
        h = [[k, -k] for k in range(4)]
        v[at % 3][2] += h[at % 4][0]
        v[same % 3][0], v[same % 3][3] = h[same % 4]
        v[1][at % 4] *= 2
        out += [a + b for a, b in zip(v[at % 3], v[same % 3])]
    return out


@values("language/constant-loops")
def structs_anywhere():
    out, same = [], 8
    for i in range(77):
        at = i * 7
        e = [[k + 0.5, -k, [k * 3 + j for j in range(3)]] for k in range(5)]
        e[at % 5][1] += i
        e[same % 5] = list(e[(at + 1) % 5])
        w, tag, more = e[at % 5]
        out.append(int(w * 2) + tag * 10 + more[at % 3] * 1000 + e[same % 5][2][2] * 100000)
    return out


# ---- compute/waiting ----

@values("compute/waiting")
def unequal_work_between():
    def steps(v):
        n = 0
        while v != 1 and n < 20:
            v = 3 * v + 1 if v % 2 else v // 2
            if v <= 0:
                break
            n += 1
        return n
    group = [sum(steps(63 - l + r) for r in range(3)) if l % 4 == 1 else 0 for l in range(64)]
    return group * 2


@values("compute/waiting")
def beside_vectors():
    t, s = [0] * 64, [0] * 64
    alive = [l for l in range(64) if l != 62]
    for _ in range(4):
        for l in alive:
            t[l] = s[l] + 16 * l + 6
        for l in alive:
            s[l] = t[(l + 1) % 64] + 1
    return s


# ---- simdgroup/matrix-memory ----

@values("simdgroup/matrix-memory")
def exchanged_in_loop():
    p, q = np.roll(np.eye(8), 3, axis=1), np.roll(np.eye(8), 1, axis=1)
    for k in range(7):
        p, q = q, p @ q if k % 3 == 2 else p
    return np.stack([p, q])


def text(name, numbers):
    words = [repr(v) if isinstance(v, int) else "%.9g" % v for v in np.asarray(numbers).ravel().tolist()]
    lines, line = [], name + ":"
    for word in words:
        if len(line) + len(word) > 118:
            lines.append(line)
            line = " "
        line += " " + word
    return "\n".join(lines + [line]) + "\n"


for file, functions in FILES.items():
    with open(os.path.join(HERE, file + ".values"), "w", encoding="ascii") as out:
        out.write("\n".join(text(name, function()) for name, function in functions))
