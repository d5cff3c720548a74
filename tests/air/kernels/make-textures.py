#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-textures.py DIRECTORY: kernels that use textures, each as AIR (NAME.ll) and in one source (textures.metal).

A row of a kernel is the result's type, the name after "air.", the operands, and the same in MSL. Kernels store the result
of row k for thread i at out[k * 64 + i]; rows without a result come before those that see what they did. AIR's
signatures are those that listings of Apple's compiler show; where newer compilers have other ones, both are used.
"""
import pathlib
import re
import sys

THREADS = 64
LEVEL0 = "i1 false, float 0.0, float 0.0, i32 0"
F4, U4, H4, S4, DEPTH = "{ <4 x float>, i8 }", "{ <4 x i32>, i8 }", "{ <4 x half>, i8 }", "{ <4 x i16>, i8 }", "{ float, i8 }"
NO2, NO3 = "<2 x i32> zeroinitializer", "<3 x i32> zeroinitializer"
OFF2 = "<2 x i32> <i32 1, i32 -2>"

# %t0.. textures, %s a sampler, %state one of the source; c1 to c3 coordinates, p1 to p3 pixels, h2 a pixel of ushort.
KERNELS = {
    "sampled": {
        "textures": ["texture1d<float, sample>", "texture2d<float, sample>", "texture2d_array<float, sample>",
                     "texture3d<float, sample>", "texture2d<half, sample>"],
        "rows": [
            (F4, "sample_texture_2d.v4f32", f"%t1 %s %c2 i1 true, {NO2} i1 true, float 1.25, float 0.0, i32 0",
             "t1.sample(s, c2, level(1.25f))"),
            (F4, "gather_texture_2d.v4f32", f"%t1 %state %c2 i1 true, {OFF2} i32 2, i32 0",
             "t1.gather(own, c2, int2(1, -2), component::z)"),
            (F4, "read_texture_1d.v4f32", "%t0 %p1 i32 0, i32 0", "t0.read(p2.x)"),
            (F4, "read_texture_2d.v4f32", "%t1 %p2 i32 1, i32 0", "t1.read(p2, 1)"),
            (F4, "read_texture_2d.v4f32.new", f"%t1 %none %p2 <2 x i32> <i32 1, i32 1>, i32 0, i32 0", "t1.read(p2 + 1)"),
            (F4, "read_texture_2d_array.v4f32", "%t2 %p2 i32 1 i32 0, i32 0", "t2.read(p2, 1)"),
            (F4, "read_texture_2d_array.v4f32.new", f"%t2 %none %p2 i32 1 {NO2} i32 0, i32 0", "t2.read(p2, 1)"),
            (F4, "read_texture_3d.v4f32", "%t3 %p3 i32 0, i32 0", "t3.read(uint3(p2, 1))"),
            (H4, "read_texture_2d.i16.v4f16", "%t4 %h2 i16 0, i32 0", "float4(t4.read(ushort2(p2), ushort(0)))"),
            ("i32", "get_width_texture_2d", "%t1 i32 1", "float4(t1.get_width(1), 0, 0, 0)"),
            ("i32", "get_height_texture_2d_array", "%t2 i32 0", "float4(t2.get_height(), 0, 0, 0)"),
            ("i32", "get_depth_texture_3d", "%t3 i32 0", "float4(t3.get_depth(), 0, 0, 0)"),
            ("i32", "get_array_size_texture_2d_array", "%t2", "float4(t2.get_array_size(), 0, 0, 0)"),
            ("i32", "get_num_mip_levels_texture_2d", "%t1", "float4(t1.get_num_mip_levels(), 0, 0, 0)"),
            ("i1", "is_null_texture_2d", "%t1", "float4(is_null_texture(t1), 0, 0, 0)"),
        ],
    },
    "filtered": {
        "textures": ["texture1d<float, sample>", "texture2d<float, sample>", "texture2d_array<float, sample>",
                     "texture3d<float, sample>", "texture2d<half, sample>"],
        "rows": [
            (F4, "sample_texture_1d.v4f32", f"%t0 %state %c1 i1 false, i32 0 {LEVEL0}", "t0.sample(own, c1)"),
            (F4, "sample_texture_2d.v4f32", f"%t1 %state %c2 i1 true, {NO2} {LEVEL0}", "t1.sample(own, c2)"),
            (F4, "sample_texture_2d.v4f32", f"%t1 %state %c2 i1 true, {OFF2} {LEVEL0}", "t1.sample(own, c2, int2(1, -2))"),
            (F4, "sample_texture_2d.v4f32", f"%t1 %s %c2 i1 true, {NO2} i1 false, float 0.5, float 1.0, i32 0",
             "t1.sample(s, c2, bias(0.5f), min_lod_clamp(1.0f))"),
            (F4, "sample_texture_2d_grad.v4f32",
             f"%t1 %s %c2 <2 x float> <float 0.25, float 0.5>, <2 x float> <float 0.125, float 0.0>, float 0.0 i1 true, {OFF2} i32 0",
             "t1.sample(s, c2, gradient2d(float2(0.25f, 0.5f), float2(0.125f, 0.0f)), int2(1, -2))"),
            (F4, "sample_texture_2d_array.v4f32", f"%t2 %state %c2 i32 1 i1 true, {NO2} {LEVEL0}", "t2.sample(own, c2, 1)"),
            (F4, "sample_texture_3d.v4f32", f"%t3 %state %c3 i1 true, {NO3} {LEVEL0}", "t3.sample(own, c3)"),
            (H4, "sample_texture_2d.v4f16", f"%t4 %state %c2 i1 true, {NO2} {LEVEL0}", "float4(t4.sample(own, c2))"),
            (F4, "gather_texture_2d_array.v4f32", f"%t2 %state %c2 i32 1 i1 true, {NO2} i32 0, i32 0", "t2.gather(own, c2, 1)"),
        ],
    },
    "cubes": {
        "textures": ["texturecube<float, sample>", "texturecube_array<float, sample>", "texturecube<int, sample>"],
        "rows": [
            (F4, "sample_texture_cube.v4f32", f"%t0 %state %c3 {LEVEL0}", "t0.sample(own, c3)"),
            (F4, "sample_texture_cube_array.v4f32", f"%t1 %s %c3 i32 1 i1 true, float 0.5, float 0.0, i32 0",
             "t1.sample(s, c3, 1, level(0.5f))"),
            (F4, "sample_texture_cube_grad.v4f32",
             "%t0 %s %c3 <3 x float> <float 0.25, float 0.5, float 0.0>, <3 x float> <float 0.125, float 0.0, float 0.0>, float 0.0, i32 0",
             "t0.sample(s, c3, gradientcube(float3(0.25f, 0.5f, 0.0f), float3(0.125f, 0.0f, 0.0f)))"),
            (F4, "gather_texture_cube.v4f32", "%t0 %state %c3 i32 1, i32 0", "t0.gather(own, c3, component::y)"),
            (U4, "gather_texture_cube.s.v4i32", "%t2 %state %c3 i32 0, i32 0", "float4(t2.gather(own, c3))"),
            (U4, "sample_texture_cube.s.v4i32", f"%t2 %state %c3 {LEVEL0}", "float4(t2.sample(own, c3))"),
            (F4, "read_texture_cube.v4f32", "%t0 %p2 i32 3 i32 0, i32 0", "t0.read(p2, 3)"),
            (F4, "read_texture_cube.v4f32.new", "%t0 %none %p2 i32 3 i32 0, i32 0", "t0.read(p2, 3)"),
            (F4, "read_texture_cube_array.v4f32", "%t1 %p2 i32 2, i32 1 i32 0, i32 0", "t1.read(p2, 2, 1)"),
            ("i32", "get_array_size_texture_cube_array", "%t1", "float4(t1.get_array_size(), 0, 0, 0)"),
        ],
    },
    "depths": {
        "textures": ["depth2d<float, sample>", "depth2d_array<float, sample>", "depthcube<float, sample>"],
        "rows": [
            (DEPTH, "sample_depth_2d.f32", f"%t0 %state i32 1 %c2 i1 true, {NO2} {LEVEL0}", "float4(t0.sample(own, c2), 0, 0, 0)"),
            (DEPTH, "sample_compare_depth_2d.f32", f"%t0 %state i32 1 %c2 float 0.5 i1 true, {NO2} {LEVEL0}",
             "float4(t0.sample_compare(own, c2, 0.5f), 0, 0, 0)"),
            (DEPTH, "sample_compare_depth_2d_grad.f32",
             f"%t0 %state i32 1 %c2 float 0.5 <2 x float> <float 0.25, float 0.5>, <2 x float> <float 0.125, float 0.0>, float 0.0 i1 true, {NO2} i32 0",
             "float4(t0.sample_compare(own, c2, 0.5f, gradient2d(float2(0.25f, 0.5f), float2(0.125f, 0.0f))), 0, 0, 0)"),
            (DEPTH, "sample_compare_depth_2d_array.f32", f"%t1 %state i32 1 %c2 i32 1, float 0.5 i1 true, {NO2} {LEVEL0}",
             "float4(t1.sample_compare(own, c2, 1, 0.5f), 0, 0, 0)"),
            (DEPTH, "sample_compare_depth_cube.f32", f"%t2 %state i32 1 %c3 float 0.5 {LEVEL0}",
             "float4(t2.sample_compare(own, c3, 0.5f), 0, 0, 0)"),
            (F4, "gather_depth_2d.v4f32", f"%t0 %state i32 1 %c2 i1 true, {NO2} i32 0", "t0.gather(own, c2)"),
            (F4, "gather_compare_depth_2d.f32", f"%t0 %state i32 1 %c2 float 0.5 i1 true, {OFF2} i32 0",
             "t0.gather_compare(own, c2, 0.5f, int2(1, -2))"),
            (F4, "gather_compare_depth_cube.f32", "%t2 %state i32 1 %c3 float 0.5 i32 0", "t2.gather_compare(own, c3, 0.5f)"),
            (DEPTH, "read_depth_2d.f32", "%t0 i32 1 %p2 i32 0, i32 0", "float4(t0.read(p2), 0, 0, 0)"),
            (DEPTH, "read_depth_2d_array.f32.new", f"%t1 %none i32 1 %p2 i32 1 {NO2} i32 0, i32 0", "float4(t1.read(p2, 1), 0, 0, 0)"),
            ("i32", "get_width_depth_2d", "%t0 i32 0", "float4(t0.get_width(), 0, 0, 0)"),
        ],
    },
    "integers": {
        "textures": ["texture2d<uint, sample>", "texture2d_array<int, sample>", "texture2d<short, sample>",
                     "texture_buffer<uint, read>", "texture2d_ms<float, read>", "array<texture2d<float, sample>, 2>"],
        "rows": [
            (U4, "read_texture_2d.u.v4i32", "%t0 %p2 i32 0, i32 0", "float4(t0.read(p2))"),
            (U4, "sample_texture_2d.u.v4i32", f"%t0 %state %c2 i1 true, {NO2} {LEVEL0}", "float4(t0.sample(own, c2))"),
            (U4, "gather_texture_2d.u.v4i32", f"%t0 %state %c2 i1 true, {NO2} i32 1, i32 0", "float4(t0.gather(own, c2, int2(0), component::y))"),
            (U4, "read_texture_2d_array.s.v4i32", "%t1 %p2 i32 1 i32 0, i32 0", "float4(t1.read(p2, 1))"),
            (S4, "read_texture_2d.s.v4i16", "%t2 %p2 i32 0, i32 0", "float4(t2.read(p2))"),
            (U4, "read_texture_buffer_1d.u.v4i32", "%t3 %p1 i32 1", "float4(t3.read(p2.x))"),
            (F4, "read_texture_2d_ms.v4f32", "%t4 %p2 i32 1, i32 1", "t4.read(p2, 1)"),
            ("i32", "get_num_samples_texture_2d_ms", "%t4", "float4(t4.get_num_samples(), 0, 0, 0)"),
            ("i32", "get_width_texture_2d_ms", "%t4", "float4(t4.get_width(), 0, 0, 0)"),
            (F4, "read_texture_2d.v4f32", "%t5.0 %p2 i32 0, i32 0", "t5[0].read(p2)"),
            (F4, "read_texture_2d.v4f32", "%t5.1 %p2 i32 0, i32 0", "t5[1].read(p2)"),
        ],
    },
    "written": {
        "textures": ["texture2d<float, write>", "texture2d_array<half, write>", "texture3d<float, write>",
                     "texturecube<float, write>", "texture2d<uint, write>", "texture2d<short, write>",
                     "texture2d<uint, read_write>", "texture2d_array<int, read_write>"],
        "rows": [
            ("void", "write_texture_2d.v4f32", "%t0 %p2 %v i32 0, i32 2", "t0.write(c, p2)"),
            ("void", "write_texture_2d_array.v4f16", "%t1 %p2 i32 1 %vh i32 0, i32 2", "t1.write(half4(c), p2, 1)"),
            ("void", "write_texture_3d.v4f32", "%t2 %p3 %v i32 0, i32 2", "t2.write(c, uint3(p2, 1))"),
            ("void", "write_texture_cube.v4f32", "%t3 %p2 i32 4 %v i32 0, i32 2", "t3.write(c, p2, 4)"),
            ("void", "write_texture_2d.u.v4i32", "%t4 %p2 %vu i32 0, i32 2", "t4.write(uint4(c), p2)"),
            ("void", "write_texture_2d.i16.s.v4i16", "%t5 %h2 %vs i16 0, i32 2", "t5.write(short4(c), ushort2(p2))"),
            ("void", "atomic_store_explicit_texture_2d.u.v4i32", "%t6 %vu %p2 i32 0, i32 3", "t6.atomic_store(uint4(c), p2)"),
            ("void", "fence_texture_2d", "%t6", "t6.fence()"),
            ("<4 x i32>", "atomic_load_explicit_texture_2d.u.v4i32", "%t6 %p2 i32 0, i32 3", "float4(t6.atomic_load(p2))"),
            ("<4 x i32>", "atomic_fetch_add_explicit_texture_2d.u.v4i32", "%t6 %p2 %vu i32 0, i32 3",
             "float4(t6.atomic_fetch_add(p2, uint4(c)))"),
            ("void", "atomic_store_explicit_texture_2d_array.s.v4i32", "%t7 %vi %p2 i32 1, i32 0, i32 3", "t7.atomic_store(int4(c), p2, 1)"),
            ("<4 x i32>", "atomic_fetch_max_explicit_texture_2d_array.s.v4i32.new",
             f"%t7 %p2 i32 1 {NO2} %vi i32 0, i32 3", "float4(t7.atomic_fetch_max(p2, 1, int4(c)))"),
            ("<4 x i32>", "atomic_exchange_explicit_texture_2d.u.v4i32", "%t6 %p2 %vu i32 0, i32 3",
             "float4(t6.atomic_exchange(p2, uint4(c)))"),
            (U4, "read_texture_2d.u.v4i32", "%t6 %p2 i32 0, i32 3", "float4(t6.read(p2))"),
        ],
    },
}

# The linear sampler of the source, which repeats s and clamps t to an opaque white border, and compares by less.
OWN = ("constexpr sampler own(filter::linear, s_address::repeat, t_address::clamp_to_border, r_address::clamp_to_edge, "
       "border_color::opaque_white, compare_func::less);")
STATE = 2 | 0 << 3 | 1 << 6 | 1 << 9 | 1 << 11 | 1 << 16 | 0x7bff << 40 | 2 << 56

VALUES = {
    "%s": ("ptr addrspace(2)", "%s"), "%state": ("ptr addrspace(2)", "@__air_sampler_state"),
    "%none": ("ptr addrspace(2)", "%none"), "%c1": ("float", "%c1"), "%c2": ("<2 x float>", "%c2"), "%c3": ("<3 x float>", "%c3"),
    "%p1": ("i32", "%x"), "%p2": ("<2 x i32>", "%p2"), "%p3": ("<3 x i32>", "%p3"), "%h2": ("<2 x i16>", "%h2"),
    "%v": ("<4 x float>", "%c"), "%vh": ("<4 x half>", "%vh"), "%vu": ("<4 x i32>", "%vu"), "%vi": ("<4 x i32>", "%vi"),
    "%vs": ("<4 x i16>", "%vs"),
}


def operands(text):
    """A list of (type, value), from names of VALUES, textures, and typed constants after each other."""
    found = []
    for part in re.findall(r"%[\w.]+|<\d x \w+> (?:zeroinitializer|<[^>]*>)|\w+ [-\w.]+", text):
        if part in VALUES:
            found.append(VALUES[part])
        elif part.startswith("%t"):
            found.append(("ptr addrspace(1)", part))
        else:
            at = part.index("> ") + 1 if part.startswith("<") else part.index(" ")
            found.append((part[:at], part[at + 1:]))
    return found


def stored(result, value, k):
    """The instructions that make <4 x float> of a result, and its name."""
    lines = []
    kind = result
    if result.startswith("{"):
        kind = result[2:result.index(",", 3)] if not result.startswith("{ <") else result[2:result.index(">") + 1]
        lines.append(f"%r{k}.v = extractvalue {result} %{value}, 0")
        value = f"r{k}.v"
    sign = "uitofp" if SIGNS.get(k) == "u" else "sitofp"
    if kind == "<4 x float>":
        return lines, f"%{value}"
    if kind == "<4 x half>":
        lines.append(f"%r{k}.f = fpext <4 x half> %{value} to <4 x float>")
    elif kind.startswith("<4 x i"):
        lines.append(f"%r{k}.f = {sign} {kind} %{value} to <4 x float>")
    else:
        scalar = f"%{value}"
        if kind.startswith("i"):
            lines.append(f"%r{k}.s = uitofp {kind} %{value} to float")
            scalar = f"%r{k}.s"
        lines.append(f"%r{k}.f = insertelement <4 x float> zeroinitializer, float {scalar}, i64 0")
    return lines, f"%r{k}.f"


SIGNS = {}


def make_air(name, kernel):
    body, declared, shown = [], {}, 0
    for k, (result, callee, text, _) in enumerate(kernel["rows"]):
        SIGNS[k] = "u" if ".u." in callee else "s"
        given = operands(text)
        # A module has one signature for each name: the second one gets a number, which the translator does not look at.
        symbol = "air." + callee.removesuffix(".new")
        signature = (result, [kind for kind, _ in given])
        if declared.setdefault(symbol, signature) != signature:
            symbol += ".1"
            declared[symbol] = signature
        call = f"call {result} @{symbol}({', '.join(f'{kind} {value}' for kind, value in given)})"
        body.append(f"%r{k} = {call}" if result != "void" else call)
        if result == "void":
            continue
        lines, value = stored(result, f"r{k}", k)
        body += lines
        body += [f"%o{k}.i = add i64 %wide, {shown * THREADS}",
                 f"%o{k} = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %o{k}.i",
                 f"store <4 x float> {value}, ptr addrspace(1) %o{k}, align 16"]
        shown += 1
    return body, declared


def array_count(kind):
    found = re.match(r"array<.*, (\d+)>$", kind)
    return int(found.group(1)) if found else 0


def write_air(directory, name, kernel):
    body, declared = make_air(name, kernel)
    textures = kernel["textures"]
    parameters = ["ptr addrspace(1) %in", "ptr addrspace(1) %out"]
    start = []
    for i, kind in enumerate(textures):
        count = array_count(kind)
        parameters.append(f"ptr %a{i}" if count else f"ptr addrspace(1) %t{i}")
        for k in range(count):
            start += [f"%a{i}.{k} = getelementptr inbounds [{count} x ptr addrspace(1)], ptr %a{i}, i64 0, i64 {k}",
                      f"%t{i}.{k} = load ptr addrspace(1), ptr %a{i}.{k}, align 8"]
    start += ["%wide = zext i32 %id to i64", "%from = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %wide",
              "%c = load <4 x float>, ptr addrspace(1) %from, align 16", "%c1 = extractelement <4 x float> %c, i64 0",
              "%c2 = shufflevector <4 x float> %c, <4 x float> poison, <2 x i32> <i32 0, i32 1>",
              "%c3 = shufflevector <4 x float> %c, <4 x float> poison, <3 x i32> <i32 0, i32 1, i32 2>",
              "%x = and i32 %id, 7", "%y = lshr i32 %id, 3", "%p2.0 = insertelement <2 x i32> poison, i32 %x, i64 0",
              "%p2 = insertelement <2 x i32> %p2.0, i32 %y, i64 1",
              "%p3.0 = shufflevector <2 x i32> %p2, <2 x i32> poison, <3 x i32> <i32 0, i32 1, i32 poison>",
              "%p3 = insertelement <3 x i32> %p3.0, i32 1, i64 2", "%h2 = trunc <2 x i32> %p2 to <2 x i16>",
              "%vh = call <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float> %c)",
              "%vu = call <4 x i32> @air.convert.u.v4i32.f.v4f32(<4 x float> %c)",
              "%vi = call <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float> %c)",
              "%vs = call <4 x i16> @air.convert.s.v4i16.f.v4f32(<4 x float> %c)",
              "%none = call ptr addrspace(2) @air.get_read_sampler()"]
    parameters += ["ptr addrspace(2) %s", "i32 %id"]
    nodes = ['!{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, '
             '!"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"in"}',
             '!{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, '
             '!"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"out"}']
    at = 0
    for i, kind in enumerate(textures):
        access = re.search(r", (\w+)>", kind).group(1)
        count = max(array_count(kind), 1)
        nodes.append(f'!{{i32 {i + 2}, !"air.texture", !"air.location_index", i32 {at}, i32 {count}, !"air.{access}", '
                     f'!"air.arg_type_name", !"{kind}", !"air.arg_name", !"t{i}"}}')
        at += count
    last = len(textures) + 2
    nodes.append(f'!{{i32 {last}, !"air.sampler", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"s"}}')
    nodes.append(f'!{{i32 {last + 1}, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"id"}}')
    lines = [f"; Textures, made by make-textures.py.", 'target triple = "air64_v28-apple-macosx26.0.0"', "",
             f"@__air_sampler_state = internal addrspace(2) constant [2 x i64] [i64 {STATE}, i64 0], align 8", "",
             f"define void @{name}({', '.join(parameters)}) {{", "entry:"]
    lines += ["  " + line for line in start + body] + ["  ret void", "}", ""]
    lines += [f"declare {result} @{symbol}({', '.join(kinds)})" for symbol, (result, kinds) in declared.items()]
    lines += ["declare <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float>)", "declare <4 x i32> @air.convert.u.v4i32.f.v4f32(<4 x float>)",
              "declare <4 x i32> @air.convert.s.v4i32.f.v4f32(<4 x float>)", "declare <4 x i16> @air.convert.s.v4i16.f.v4f32(<4 x float>)",
              "declare ptr addrspace(2) @air.get_read_sampler()", "", "!air.kernel = !{!0}", "!air.sampler_states = !{!3}",
              f"!0 = !{{ptr @{name}, !1, !2}}", "!1 = !{}", f"!2 = !{{{', '.join(f'!{i + 4}' for i in range(len(nodes)))}}}",
              '!3 = !{!"air.sampler_state", ptr addrspace(2) @__air_sampler_state}']
    lines += [f"!{i + 4} = {node}" for i, node in enumerate(nodes)]
    (directory / f"{name}.ll").write_text("\n".join(lines) + "\n")


def source_of(name, kernel):
    textures, at = [], 0
    for i, kind in enumerate(kernel["textures"]):
        spelled = re.sub(r", (sample|read|write|read_write)>", r", access::\1>", kind)
        textures.append(f"{spelled} t{i} [[texture({at})]]")
        at += max(array_count(kind), 1)
    lines = [f"kernel void {name}(device const float4 *in, device float4 *out, {', '.join(textures)}, sampler s [[sampler(0)]], "
             "uint id [[thread_position_in_grid]]) {", "    " + OWN, "    float4 c = in[id];",
             "    float c1 = c.x;", "    float2 c2 = c.xy;", "    float3 c3 = c.xyz;", "    uint2 p2 = uint2(id & 7, id >> 3);"]
    shown = 0
    for result, _, _, expression in kernel["rows"]:
        lines.append(f"    {expression};" if result == "void" else f"    out[{shown * THREADS} + id] = {expression};")
        shown += result != "void"
    return lines + ["}", ""]


def main():
    directory = pathlib.Path(sys.argv[1])
    source = ["// Made by make-textures.py.", "#include <metal_stdlib>", "using namespace metal;", ""]
    for name, kernel in KERNELS.items():
        write_air(directory, name, kernel)
        source += source_of(name, kernel)
    (directory / "textures.metal").write_text("\n".join(source))


main()
