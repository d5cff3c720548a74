// SPDX-License-Identifier: Apache-2.0
// Randomly generated kernels.
#include "random-kernel.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "simt/launch.h"

enum { INTEGERS = 4, FLOATS = 2, ARRAY = 8, MAX_DEPTH = 3 };

uint32_t random_below(random_numbers *r, uint32_t bound) {
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) % bound);
}

typedef struct generator {
    FILE *out;
    random_numbers random;
    unsigned features;
    uint32_t values, labels;
    uint32_t stride;  // of records
    int depth;
    bool apart;       // lanes may have diverged here: no barriers
    int inner, next;  // labels of the innermost loop, for break and continue; -1 outside
} generator;

typedef struct operand {
    char text[16];
} operand;

static uint32_t below(generator *g, uint32_t bound) {
    return random_below(&g->random, bound);
}

__attribute__((format(printf, 2, 3))) static void line(generator *g, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("  ", g->out);
    vfprintf(g->out, format, arguments);
    fputc('\n', g->out);
    va_end(arguments);
}

// "%v17 = ...": the value.
__attribute__((format(printf, 2, 3))) static operand value(generator *g, const char *format, ...) {
    operand o;
    va_list arguments;
    snprintf(o.text, sizeof o.text, "%%v%u", g->values++);
    fprintf(g->out, "  %s = ", o.text);
    va_start(arguments, format);
    vfprintf(g->out, format, arguments);
    fputc('\n', g->out);
    va_end(arguments);
    return o;
}

static operand number(int64_t n) {
    operand o;
    snprintf(o.text, sizeof o.text, "%lld", (long long)n);
    return o;
}

static operand named(const char *name) {
    operand o;
    snprintf(o.text, sizeof o.text, "%s", name);
    return o;
}

static int new_label(generator *g) {
    return (int)g->labels++;
}

static void begin(generator *g, int label) {
    fprintf(g->out, "b%d:\n", label);
}

static void go(generator *g, int label) {
    line(g, "br label %%b%d", label);
}

// ---- Expressions ----

static operand integer(generator *g, int depth);

static operand uniform_integer(generator *g) {
    switch (below(g, 4)) {
        case 0: return number((int64_t)below(g, 20) - 5);
        case 1: return named("%sx");
        case 2: return named("%rounds");
        default: {
            operand at = value(g, "getelementptr i32, ptr %%table, i64 %u", below(g, TABLE));
            return value(g, "load i32, ptr %s, align 4", at.text);
        }
    }
}

static operand table_entry(generator *g, operand index) {
    operand masked = value(g, "and i32 %s, %d", index.text, TABLE - 1);
    operand wide = value(g, "zext i32 %s to i64", masked.text);
    operand at = value(g, "getelementptr i32, ptr %%table, i64 %s", wide.text);
    return value(g, "load i32, ptr %s, align 4", at.text);
}

static operand array_place(generator *g, int depth) {
    operand index = below(g, 2) ? uniform_integer(g) : integer(g, depth - 1);
    operand masked = value(g, "and i32 %s, %d", index.text, ARRAY - 1);
    operand wide = value(g, "zext i32 %s to i64", masked.text);
    return value(g, "getelementptr [%d x i32], ptr %%array, i64 0, i64 %s", ARRAY, wide.text);
}

// A place in the thread's record.
static operand record_place(generator *g, uint32_t bytes, uint32_t elements) {
    uint32_t room = g->stride / bytes - elements + 1, offset = below(g, room) * bytes;
    if (below(g, 2)) return value(g, "getelementptr i8, ptr %%record, i64 %u", offset);
    // The same with a 32-bit index.
    operand scaled = value(g, "mul i32 %%gid, %u", g->stride / bytes);
    operand index = value(g, "add i32 %s, %u", scaled.text, offset / bytes);
    operand wide = value(g, "zext i32 %s to i64", index.text);
    return value(g, "getelementptr i%u, ptr %%records, i64 %s", 8 * bytes, wide.text);
}

static operand record_field(generator *g) {
    uint32_t bytes = 1u << below(g, 3);
    if (g->stride % bytes) bytes = 1;
    uint32_t elements = g->stride / bytes >= 4 && below(g, 4) == 0 ? 4 : 1;
    operand at = record_place(g, bytes, elements), loaded;
    if (elements == 1) {
        loaded = value(g, "load i%u, ptr %s, align %u", 8 * bytes, at.text, bytes);
    } else {
        operand all = value(g, "load <4 x i%u>, ptr %s, align %u", 8 * bytes, at.text, bytes);
        loaded = value(g, "extractelement <4 x i%u> %s, i32 %u", 8 * bytes, all.text, below(g, 4));
    }
    return bytes == 4 ? loaded : value(g, "%s i%u %s to i32", below(g, 2) ? "zext" : "sext", 8 * bytes, loaded.text);
}

static operand condition(generator *g, int depth, bool uniform) {
    static const char *const predicates[] = {"eq", "ne", "ult", "ugt", "slt", "sge"};
    const char *predicate = predicates[below(g, 6)];
    operand a = uniform ? uniform_integer(g) : integer(g, depth - 1), b = uniform_integer(g);
    return value(g, "icmp %s i32 %s, %s", predicate, a.text, b.text);
}

static operand lane_operation(generator *g, int depth) {
    static const char *const kinds[] = {"reduce_add", "reduce_min",         "reduce_max",        "reduce_and",
                                        "reduce_or",  "scan_exclusive_add", "scan_inclusive_add"};
    operand a = integer(g, depth - 1);
    if (below(g, 6) == 0) {
        operand bit = condition(g, depth, false);
        operand ballot = value(g, "call i64 @__ig_ballot(i1 %s, i32 %d)", bit.text, below(g, 2) ? 32 : 4);
        return value(g, "trunc i64 %s to i32", ballot.text);
    }
    return value(g, "call i32 @__ig_%s_u32(i32 %s, i32 %d)", kinds[below(g, 7)], a.text, below(g, 3) ? 32 : 4);
}

static operand rounded(generator *g) {
    operand f = value(g, "load float, ptr %%f%u, align 4", below(g, FLOATS));
    return value(g, "call i32 @llvm.fptosi.sat.i32.f32(float %s)", f.text);
}

static operand binary(generator *g, int depth) {
    static const char *const operations[] = {"add", "sub", "mul", "and", "or", "xor"};
    operand a = integer(g, depth - 1), b = below(g, 2) ? integer(g, depth - 1) : uniform_integer(g);
    return value(g, "%s i32 %s, %s", operations[below(g, 6)], a.text, b.text);
}

static operand narrowed(generator *g, int depth) {
    unsigned bits = below(g, 2) ? 8 : 16;
    operand a = integer(g, depth - 1), less = value(g, "trunc i32 %s to i%u", a.text, bits);
    operand more = value(g, "add i%u %s, %u", bits, less.text, below(g, 100));
    return value(g, "%s i%u %s to i32", below(g, 2) ? "zext" : "sext", bits, more.text);
}

static operand leaf(generator *g) {
    static const char *const names[] = {"%x", "%y", "%l", "%gid"};
    switch (below(g, 5)) {
        case 0: return uniform_integer(g);
        case 1: return named(names[below(g, 4)]);
        case 2: return record_field(g);
        default: return value(g, "load i32, ptr %%i%u, align 4", below(g, INTEGERS));
    }
}

static operand integer(generator *g, int depth) {
    if (depth <= 0) return leaf(g);
    if (g->features & KERNEL_RECORDS && below(g, 2)) return record_field(g);
    if (g->features & KERNEL_LANES && below(g, 8) == 0) return lane_operation(g, depth);
    switch (below(g, 12)) {
        case 0: {
            operand c = condition(g, depth, below(g, 4) == 0), a = integer(g, depth - 1), b = leaf(g);
            return value(g, "select i1 %s, i32 %s, i32 %s", c.text, a.text, b.text);
        }
        case 1: {
            operand a = integer(g, depth - 1);
            return value(g, "%s i32 %s, %u", below(g, 2) ? "shl" : "lshr", a.text, below(g, 6));
        }
        case 2: {
            operand a = integer(g, depth - 1);
            return value(g, "%s i32 %s, %u", below(g, 2) ? "udiv" : "urem", a.text, 1 + below(g, 9));
        }
        case 3: return table_entry(g, integer(g, depth - 1));
        case 4: {
            operand at = array_place(g, depth);
            return value(g, "load i32, ptr %s, align 4", at.text);
        }
        case 5: return rounded(g);
        case 6: return narrowed(g, depth);
        case 7: {
            operand a = integer(g, depth - 1), shifted = value(g, "shl i32 %s, 3", a.text);
            return value(g, "or disjoint i32 %s, %u", shifted.text, below(g, 8));
        }
        case 8: {
            operand a = integer(g, depth - 1), b = uniform_integer(g);
            return value(g, "call i32 @llvm.umin.i32(i32 %s, i32 %s)", a.text, b.text);
        }
        case 9: return leaf(g);
        default: return binary(g, depth);
    }
}

// ---- Statements ----

static void statements(generator *g, int count);

static void set_integer(generator *g) {
    operand v = integer(g, 2);
    line(g, "store i32 %s, ptr %%i%u, align 4", v.text, below(g, INTEGERS));
}

// Kept between -1000 and 1000, so that nothing is a NaN.
static void set_float(generator *g) {
    operand a = value(g, "load float, ptr %%f%u, align 4", below(g, FLOATS)), i = integer(g, 2);
    operand small = value(g, "and i32 %s, 255", i.text), b = value(g, "sitofp i32 %s to float", small.text);
    operand product = value(g, "fmul contract float %s, 0x3FE8000000000000", a.text);
    operand sum = value(g, "fadd contract float %s, %s", product.text, b.text);
    operand low = value(g, "call float @llvm.minnum.f32(float %s, float 1000.0)", sum.text);
    operand all = value(g, "call float @llvm.maxnum.f32(float %s, float -1000.0)", low.text);
    line(g, "store float %s, ptr %%f%u, align 4", all.text, below(g, FLOATS));
}

static void set_record(generator *g) {
    uint32_t bytes = 1u << below(g, 3);
    if (g->stride % bytes) bytes = 1;
    operand v = integer(g, 2);
    operand narrow = bytes == 4 ? v : value(g, "trunc i32 %s to i%u", v.text, 8 * bytes);
    uint32_t elements = g->stride / bytes >= 4 && below(g, 4) == 0 ? 4 : 1;
    operand at = record_place(g, bytes, elements);
    if (elements == 1) {
        line(g, "store i%u %s, ptr %s, align %u", 8 * bytes, narrow.text, at.text, bytes);
        return;
    }
    operand one = value(g, "insertelement <4 x i%u> zeroinitializer, i%u %s, i32 %u", 8 * bytes, 8 * bytes, narrow.text,
                        below(g, 4));
    line(g, "store <4 x i%u> %s, ptr %s, align %u", 8 * bytes, one.text, at.text, bytes);
}

static void set_array(generator *g) {
    operand v = integer(g, 2), at = array_place(g, 2);
    line(g, "store i32 %s, ptr %s, align 4", v.text, at.text);
}

// Half of the cells are sums, the others exclusive ors: neither depends on order.
static void add_to_cell(generator *g) {
    bool sum = below(g, 2);
    operand v = integer(g, 2), index = below(g, 2) ? uniform_integer(g) : integer(g, 2);
    operand masked = value(g, "and i32 %s, %d", index.text, CELLS / 2 - 1);
    operand cell = value(g, "add i32 %s, %d", masked.text, sum ? 0 : CELLS / 2);
    operand at = value(g, "getelementptr i32, ptr %%cells, i32 %s", cell.text);
    value(g, "atomicrmw %s ptr %s, i32 %s monotonic", sum ? "add" : "xor", at.text, v.text);
}

static void choose(generator *g) {
    bool uniform = below(g, 3) == 0, apart = g->apart, both = below(g, 2);
    operand c = condition(g, 2, uniform);
    int yes = new_label(g), no = new_label(g), after = new_label(g);
    line(g, "br i1 %s, label %%b%d, label %%b%d", c.text, yes, both ? no : after);
    g->apart |= !uniform;
    begin(g, yes);
    statements(g, 3);
    go(g, after);
    if (both) {
        begin(g, no);
        statements(g, 3);
        go(g, after);
    }
    g->apart = apart;
    begin(g, after);
}

// for (k = 0; k < bound; k++) with a bound that is common to all threads or different.
static void repeat(generator *g) {
    bool uniform = below(g, 2), apart = g->apart;
    int outer_inner = g->inner, outer_next = g->next;
    operand bound = uniform ? uniform_integer(g) : integer(g, 2);
    bound = value(g, "and i32 %s, 3", bound.text);
    if (uniform && below(g, 3) == 0) bound = number(1 + below(g, 5));
    int head = new_label(g), body = new_label(g), next = new_label(g), after = new_label(g);
    uint32_t counter = g->values++;
    fprintf(g->out, "  store i32 0, ptr %%k%d, align 4\n", g->depth);
    go(g, head);
    begin(g, head);
    fprintf(g->out, "  %%v%u = load i32, ptr %%k%d, align 4\n", counter, g->depth);
    operand more = value(g, "icmp ult i32 %%v%u, %s", counter, bound.text);
    line(g, "br i1 %s, label %%b%d, label %%b%d", more.text, body, after);
    begin(g, body);
    g->apart |= !uniform;
    g->inner = after, g->next = next;
    statements(g, 3);
    g->inner = outer_inner, g->next = outer_next;
    g->apart = apart;
    go(g, next);
    begin(g, next);
    operand now = value(g, "load i32, ptr %%k%d, align 4", g->depth), then = value(g, "add i32 %s, 1", now.text);
    line(g, "store i32 %s, ptr %%k%d, align 4", then.text, g->depth);
    go(g, head);
    begin(g, after);
}

// Leaves the iteration, the loop or the kernel if a condition holds.
static void leave(generator *g, int label) {
    operand c = condition(g, 2, g->apart ? below(g, 4) == 0 : true);
    int after = new_label(g);
    line(g, "br i1 %s, label %%b%d, label %%b%d", c.text, label, after);
    begin(g, after);
}

static void leave_early(generator *g) {
    operand c = condition(g, 2, false);
    int out = new_label(g), after = new_label(g);
    line(g, "br i1 %s, label %%b%d, label %%b%d", c.text, out, after);
    begin(g, out);
    line(g, "ret ptr null");
    begin(g, after);
}

// Every thread's value goes to another thread.
static void exchange(generator *g) {
    operand v = value(g, "load i32, ptr %%i%u, align 4", below(g, INTEGERS));
    line(g, "store i32 %s, ptr %%slot, align 4", v.text);
    line(g, "call void @__ig_barrier(i32 2)");
    operand moved = value(g, "add i32 %%l, %u", below(g, 40)), other = value(g, "urem i32 %s, %%n", moved.text);
    operand wide = value(g, "zext i32 %s to i64", other.text);
    operand at = value(g, "getelementptr i32, ptr %%shared, i64 %s", wide.text);
    operand got = value(g, "load i32, ptr %s, align 4", at.text);
    line(g, "call void @__ig_barrier(i32 2)");
    line(g, "store i32 %s, ptr %%i%u, align 4", got.text, below(g, INTEGERS));
}

static void statement(generator *g) {
    if (g->features & KERNEL_BARRIERS && !g->apart && below(g, 4) == 0) {
        exchange(g);
        return;
    }
    if (g->features & KERNEL_RECORDS && below(g, 2)) {
        set_record(g);
        return;
    }
    switch (below(g, 12)) {
        case 0: set_float(g); break;
        case 1:
        case 2: set_record(g); break;
        case 3: set_array(g); break;
        case 4:
        case 5:
            if (g->depth < MAX_DEPTH) choose(g);
            break;
        case 6:
        case 7:
            if (g->depth < MAX_DEPTH) repeat(g);
            break;
        case 8:
            if (g->inner >= 0) leave(g, below(g, 2) ? g->inner : g->next);
            break;
        case 9:
            if (g->features & KERNEL_ATOMICS) add_to_cell(g);
            break;
        case 10:
            if (g->features & KERNEL_RETURNS && below(g, 3) == 0) leave_early(g);
            break;
        default: set_integer(g); break;
    }
}

static void statements(generator *g, int count) {
    g->depth++;
    for (int i = count / 2 + (int)below(g, (uint32_t)count / 2 + 1); i > 0; i--) statement(g);
    g->depth--;
}

// ---- Blocks with arbitrary successors ----

// Whether to take the second exit; backwards only as long as there is fuel.
static operand way(generator *g, bool back) {
    operand c = condition(g, 1, below(g, 2));
    if (!back) return c;
    operand fuel = value(g, "load i32, ptr %%k0, align 4"), left = value(g, "icmp sgt i32 %s, 0", fuel.text);
    return value(g, "and i1 %s, %s", c.text, left.text);
}

static void leave_block(generator *g, int first, int block, int count) {
    int forward = block + 1 + (int)below(g, (uint32_t)(count - block - 1) / 2 + 1);
    if (forward >= count) forward = count - 1;
    if (below(g, 4) == 0) {
        go(g, first + forward);
        return;
    }
    int other =
        below(g, 2) ? block + 1 + (int)below(g, (uint32_t)(count - block - 1)) : (int)below(g, (uint32_t)block + 1);
    operand c = way(g, other <= block);
    line(g, "br i1 %s, label %%b%d, label %%b%d", c.text, first + other, first + forward);
}

// Later blocks through one exit and any block through the other.
static void graph(generator *g) {
    int count = 3 + (int)below(g, 12), first = (int)g->labels;
    g->labels += (uint32_t)count;
    line(g, "store i32 12, ptr %%k0, align 4");
    go(g, first);
    for (int i = 0; i < count; i++) {
        begin(g, first + i);
        operand fuel = value(g, "load i32, ptr %%k0, align 4"), less = value(g, "sub i32 %s, 1", fuel.text);
        line(g, "store i32 %s, ptr %%k0, align 4", less.text);
        operand old = value(g, "load i32, ptr %%i0, align 4"), more = value(g, "mul i32 %s, 31", old.text);
        operand now = value(g, "add i32 %s, %d", more.text, i + 1);
        line(g, "store i32 %s, ptr %%i0, align 4", now.text);
        if (below(g, 2)) set_integer(g);
        if (below(g, 3) == 0) set_record(g);
        if (g->features & KERNEL_ATOMICS && below(g, 4) == 0) add_to_cell(g);
        if (i + 1 < count) leave_block(g, first, i, count);
    }
}

// ---- The function ----

static void load_field(generator *g, const char *name, size_t offset) {
    line(g, "%%%s.at = getelementptr i8, ptr %%group, i64 %zu", name, offset);
    line(g, "%%%s = load i32, ptr %%%s.at, align 4, !invariant.load !0", name, name);
}

static void load_argument(generator *g, const char *name, unsigned index) {
    line(g, "%%%s.at = getelementptr i8, ptr %%group, i64 %zu", name, offsetof(igi_simt_group, arguments[index]));
    line(g, "%%%s = load ptr, ptr %%%s.at, align 8, !invariant.load !0", name, name);
}

static void prologue(generator *g) {
    static const char *const fields[3][3] = {{"sx", "sy", "sz"}, {"nx", "ny", "nz"}, {"ox", "oy", "oz"}};
    const size_t offsets[] = {offsetof(igi_simt_group, size), offsetof(igi_simt_group, grid),
                              offsetof(igi_simt_group, origin)};
    fputs("define ptr @thread(ptr %group, i32 %x, i32 %y, i32 %z, ptr %lane) {\nentry:\n", g->out);
    for (int i = 0; i < INTEGERS; i++) line(g, "%%i%d = alloca i32, align 4", i);
    for (int i = 0; i < FLOATS; i++) line(g, "%%f%d = alloca float, align 4", i);
    for (int i = 0; i <= MAX_DEPTH; i++) line(g, "%%k%d = alloca i32, align 4", i);
    line(g, "%%array = alloca [%d x i32], align 4", ARRAY);
    for (int f = 0; f < 3; f++)
        for (int i = 0; i < 3; i++) load_field(g, fields[f][i], offsets[f] + 4 * (size_t)i);
    load_argument(g, "records", 0);
    load_argument(g, "table", 1);
    load_argument(g, "cells", 2);
    load_argument(g, "out", 3);
    line(g, "%%shared.at = getelementptr i8, ptr %%group, i64 %zu", offsetof(igi_simt_group, threadgroup_memory));
    line(g, "%%shared = load ptr, ptr %%shared.at, align 8, !invariant.load !0");
    line(g, "%%l.zy = mul i32 %%z, %%sy");
    line(g, "%%l.y = add i32 %%l.zy, %%y");
    line(g, "%%l.yx = mul i32 %%l.y, %%sx");
    line(g, "%%l = add i32 %%l.yx, %%x");
    line(g, "%%n.xy = mul i32 %%sx, %%sy");
    line(g, "%%n = mul i32 %%n.xy, %%sz");
    line(g, "%%px = add i32 %%ox, %%x");
    line(g, "%%py = add i32 %%oy, %%y");
    line(g, "%%pz = add i32 %%oz, %%z");
    line(g, "%%g.zy = mul i32 %%pz, %%ny");
    line(g, "%%g.y = add i32 %%g.zy, %%py");
    line(g, "%%g.yx = mul i32 %%g.y, %%nx");
    line(g, "%%gid = add i32 %%g.yx, %%px");
    line(g, "%%slot.index = zext i32 %%l to i64");
    line(g, "%%slot = getelementptr i32, ptr %%shared, i64 %%slot.index");
    line(g, "%%record.index = zext i32 %%gid to i64");
    line(g, "%%record = getelementptr [%u x i8], ptr %%records, i64 %%record.index", g->stride);
    line(g, "%%rounds.at = getelementptr i32, ptr %%table, i64 0");
    line(g, "%%rounds = load i32, ptr %%rounds.at, align 4");
    for (int i = 0; i < INTEGERS; i++) line(g, "store i32 %s, ptr %%i%d, align 4", i % 2 ? "%gid" : "%rounds", i);
    for (int i = 0; i < FLOATS; i++) line(g, "store float %d.0, ptr %%f%d, align 4", i, i);
    for (int i = 0; i < ARRAY; i++) {
        operand at = value(g, "getelementptr [%d x i32], ptr %%array, i64 0, i64 %d", ARRAY, i);
        line(g, "store i32 %d, ptr %s, align 4", i * i, at.text);
    }
}

static void epilogue(generator *g) {
    line(g, "%%out.index = mul i32 %%gid, %d", WORDS);
    for (int i = 0; i < WORDS; i++) {
        operand v = i < INTEGERS            ? value(g, "load i32, ptr %%i%d, align 4", i)
                    : i < INTEGERS + FLOATS ? value(g, "load i32, ptr %%f%d, align 4", i - INTEGERS)
                                            : value(g, "load i32, ptr %%array, align 4");
        operand index = value(g, "add i32 %%out.index, %d", i), wide = value(g, "zext i32 %s to i64", index.text);
        operand at = value(g, "getelementptr i32, ptr %%out, i64 %s", wide.text);
        line(g, "store i32 %s, ptr %s, align 4", v.text, at.text);
    }
    fputs("  ret ptr null\n}\n", g->out);
}

static void declarations(generator *g) {
    static const char *const kinds[] = {"reduce_add", "reduce_min",         "reduce_max",        "reduce_and",
                                        "reduce_or",  "scan_exclusive_add", "scan_inclusive_add"};
    fputs(
        "declare void @__ig_barrier(i32) convergent\n"
        "declare i64 @__ig_ballot(i1, i32) convergent\n"
        "declare i32 @llvm.umin.i32(i32, i32)\n"
        "declare i32 @llvm.fptosi.sat.i32.f32(float)\n"
        "declare float @llvm.minnum.f32(float, float)\n"
        "declare float @llvm.maxnum.f32(float, float)\n",
        g->out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(g->out, "declare i32 @__ig_%s_u32(i32, i32) convergent\n", kinds[i]);
    fputs("!0 = !{}\n", g->out);
}

char *random_kernel(uint64_t seed, unsigned features) {
    static const uint32_t strides[] = {4, 8, 12, 16, 20, 24, 32, 64};
    char *text = NULL;
    size_t length = 0;
    generator g = {.out = open_memstream(&text, &length), .features = features, .inner = -1, .next = -1};
    g.random.state = seed * 0x100000001b3u + features;
    if (!g.out) return NULL;
    g.stride = strides[below(&g, sizeof strides / sizeof *strides)];
    prologue(&g);
    if (features & KERNEL_GRAPH) graph(&g);
    if (!(features & KERNEL_GRAPH)) statements(&g, 10);
    epilogue(&g);
    declarations(&g);
    fclose(g.out);
    return text;
}
