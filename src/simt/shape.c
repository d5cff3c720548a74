// SPDX-License-Identifier: Apache-2.0
// Uniformity, strides and divergence, by iteration to a fixed point: everything starts as uniform as it can be and
// becomes more varied only where it must.
#include "simt/shape.h"

#include <llvm-c/Target.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/launch.h"

static const igi_simt_shape uniform = {.kind = IGI_SHAPE_UNIFORM}, varying = {.kind = IGI_SHAPE_VARYING};
static const igi_simt_shape matrix = {.kind = IGI_SHAPE_MATRIX};

// Positions are below 1024, and inactive lanes are at most a group beyond.
enum { POSITION_LIMIT = IGI_MAX_GROUP_THREADS + 64 };

static igi_simt_shape linear(int64_t stride) {
    return stride ? (igi_simt_shape){.kind = IGI_SHAPE_LINEAR, .stride = stride} : uniform;
}

static igi_simt_shape limited(int64_t stride, uint64_t limit) {
    igi_simt_shape shape = linear(stride);
    if (shape.kind == IGI_SHAPE_LINEAR && stride > 0 && limit < 1u << 30) shape.limit = (uint32_t)limit;
    return shape;
}

uint64_t igi_simt_private_bytes(const igi_simt_shapes *s, LLVMValueRef alloca) {
    uint64_t bytes = LLVMABISizeOfType(s->layout, LLVMGetAllocatedType(alloca));
    LLVMValueRef count = LLVMGetOperand(alloca, 0);
    if (LLVMIsAConstantInt(count)) bytes *= LLVMConstIntGetZExtValue(count);
    return igi_round_up(bytes, 64);
}

// The distance from one lane's copy to the next: contiguous copies, or, interleaved, element by element.
static int64_t private_stride(const igi_simt_shapes *s, LLVMValueRef alloca) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(alloca));
    LLVMValueRef node =
        LLVMGetMetadata(alloca, LLVMGetMDKindIDInContext(context, IGI_LANE_STRIDE, strlen(IGI_LANE_STRIDE)));
    LLVMValueRef stride;
    if (!node) return (int64_t)igi_simt_private_bytes(s, alloca);
    LLVMGetMDNodeOperands(node, &stride);
    return LLVMConstIntGetSExtValue(stride);
}

igi_simt_shape igi_simt_shape_of(const igi_simt_shapes *s, LLVMValueRef value) {
    uint32_t number;
    if (value == s->linear_argument) return limited(1, POSITION_LIMIT);
    if (!LLVMIsAInstruction(value)) return uniform;
    return igi_map_get(&s->index, value, &number) ? s->shapes[number] : varying;
}

static igi_simt_shape join_shapes(igi_simt_shape a, igi_simt_shape b) {
    if (a.kind == IGI_SHAPE_NONE) return b;
    if (b.kind == IGI_SHAPE_NONE) return a;
    if (a.kind == b.kind && a.stride == b.stride && a.pattern == b.pattern) {
        if (a.limit != b.limit) a.limit = 0;
        if (a.known != b.known || a.first != b.first) a.known = false, a.first = 0;
        return a;
    }
    bool ordered = (a.kind == IGI_SHAPE_MATRIX || a.kind == IGI_SHAPE_UNIFORM) &&
                   (b.kind == IGI_SHAPE_MATRIX || b.kind == IGI_SHAPE_UNIFORM);
    return ordered ? matrix : varying;
}

// ---- Transfer of one instruction ----

static igi_simt_shape operand_shape(const igi_simt_shapes *s, LLVMValueRef i, unsigned k) {
    return igi_simt_shape_of(s, LLVMGetOperand(i, k));
}

static bool is_elementwise_call(LLVMValueRef i) {
    static const char *const names[] = {"llvm.arithmetic.fence.", "llvm.fma.",    "llvm.fabs.",  "llvm.sqrt.",
                                        "llvm.minnum.",           "llvm.maxnum.", "llvm.floor.", "llvm.rint.",
                                        "llvm.copysign."};
    const char *name = igi_simt_callee_name(i);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(name, names[k], strlen(names[k])) == 0) return true;
    return false;
}

static bool is_elementwise(LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    return is_elementwise_call(i) || LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || opcode == LLVMFNeg ||
           opcode == LLVMFCmp || opcode == LLVMICmp || opcode == LLVMSelect;
}

// Uniform if all operands are, in matrix order if some are; nothing while one is not known yet.
static igi_simt_shape all_uniform(const igi_simt_shapes *s, LLVMValueRef i) {
    igi_simt_shape result = uniform;
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (LLVMValueIsBasicBlock(operand)) continue;
        igi_simt_shape shape = igi_simt_shape_of(s, operand);
        if (shape.kind == IGI_SHAPE_NONE) return shape;
        if (shape.kind == IGI_SHAPE_UNIFORM) continue;
        bool ordered = shape.kind == IGI_SHAPE_MATRIX && is_elementwise(i) && result.kind != IGI_SHAPE_VARYING;
        result = ordered ? matrix : varying;
    }
    return result;
}

static bool is_line(igi_simt_shape shape) {
    return shape.kind == IGI_SHAPE_UNIFORM || shape.kind == IGI_SHAPE_LINEAR;
}

static bool small_constant(LLVMValueRef value, int64_t *constant) {
    if (!LLVMIsAConstantInt(value)) return false;
    *constant = LLVMConstIntGetSExtValue(value);
    return *constant > -(1 << 20) && *constant < 1 << 20;
}

static igi_simt_shape arithmetic(const igi_simt_shapes *s, LLVMValueRef i) {
    igi_simt_shape a = operand_shape(s, i, 0), b = operand_shape(s, i, 1);
    if (a.kind == IGI_SHAPE_NONE || b.kind == IGI_SHAPE_NONE) return (igi_simt_shape){0};
    if (!is_line(a) || !is_line(b)) return all_uniform(s, i);
    int64_t constant;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAdd:
            if (a.limit && small_constant(LLVMGetOperand(i, 1), &constant) && constant > 0)
                return limited(a.stride, a.limit + (uint64_t)constant);
            return linear(a.stride + b.stride);
        case LLVMSub: return linear(a.stride - b.stride);
        case LLVMMul:
            if (small_constant(LLVMGetOperand(i, 1), &constant))
                return limited(a.stride * constant, a.limit * (uint64_t)(constant > 0 ? constant : 0));
            if (small_constant(LLVMGetOperand(i, 0), &constant)) return linear(b.stride * constant);
            break;
        case LLVMShl:
            if (small_constant(LLVMGetOperand(i, 1), &constant) && constant >= 0 && constant < 16)
                return limited(a.stride * ((int64_t)1 << constant), (uint64_t)a.limit << constant);
            break;
        case LLVMOr:
            if (LLVMGetIsDisjoint(i)) return linear(a.stride + b.stride);
            break;
        default: break;
    }
    return a.kind == IGI_SHAPE_UNIFORM && b.kind == IGI_SHAPE_UNIFORM ? uniform : varying;
}

static bool is_regular(igi_simt_shape shape) {
    return is_line(shape) || shape.kind == IGI_SHAPE_PATTERN;
}

static igi_simt_shape step(const igi_simt_shapes *s, igi_simt_shape base, igi_simt_shape index, uint64_t bytes) {
    if (is_line(base) && is_line(index)) return linear(base.stride + index.stride * (int64_t)bytes);
    return igi_simt_pattern_address(s, base, index, bytes);
}

// Steps through a GEP's types, adding up strides.
static igi_simt_shape address(const igi_simt_shapes *s, LLVMValueRef gep) {
    igi_simt_shape base = operand_shape(s, gep, 0);
    if (base.kind == IGI_SHAPE_NONE || !is_regular(base)) return base;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (int k = 1; k < LLVMGetNumOperands(gep); k++) {
        igi_simt_shape index = operand_shape(s, gep, (unsigned)k);
        if (index.kind == IGI_SHAPE_NONE || !is_regular(index)) return index;
        if (k > 1) {
            if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
                type = LLVMStructGetTypeAtIndex(type,
                                                (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(gep, (unsigned)k)));
                continue;
            }
            type = LLVMGetElementType(type);
        }
        base = step(s, base, index, LLVMABISizeOfType(s->layout, type));
    }
    return base;
}

// Whether the value only becomes part of addresses.
static bool only_addresses(LLVMValueRef value, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        switch (LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : LLVMRet) {
            case LLVMGetElementPtr: break;
            case LLVMAdd:
            case LLVMSub:
            case LLVMMul:
            case LLVMShl:
                if (depth == 0 || !only_addresses(user, depth - 1)) return false;
                break;
            default: return false;
        }
    }
    return true;
}

// A narrow integer may wrap between two lanes, and then its extension is not linear. In a 32-bit index that happens
// only in inactive lanes (a[i - 1] with i == 0), for which the widener extends the highest lane; any other extended
// value must be exact.
static igi_simt_shape extension(const igi_simt_shapes *s, LLVMValueRef i) {
    igi_simt_shape shape = operand_shape(s, i, 0);
    if (shape.kind != IGI_SHAPE_LINEAR && shape.kind != IGI_SHAPE_PATTERN) return shape;
    shape.known = false, shape.first = 0;
    bool positive = shape.limit && shape.limit <= 1ull << (LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(i, 0))) - 1);
    if (positive) return shape;
    shape.limit = 0;
    bool index = LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(i, 0))) == 32 && only_addresses(i, 4);
    return index ? shape : varying;
}

static igi_simt_shape conversion(const igi_simt_shapes *s, LLVMValueRef i) {
    igi_simt_shape shape = operand_shape(s, i, 0);
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMZExt:
        case LLVMSExt: return extension(s, i);
        case LLVMTrunc:
            if (LLVMGetIntTypeWidth(LLVMTypeOf(i)) == 1) break;
            if (shape.limit > 1ull << LLVMGetIntTypeWidth(LLVMTypeOf(i))) shape.limit = 0;
            shape.known = false, shape.first = 0;
            return shape;
        case LLVMBitCast:
        case LLVMFreeze:
        case LLVMPtrToInt:
        case LLVMIntToPtr:
            if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind ||
                LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind) {
                shape.known = false, shape.first = 0;
                return shape;
            }
            break;
        default: break;
    }
    return shape.kind == IGI_SHAPE_LINEAR || shape.kind == IGI_SHAPE_PATTERN ? varying : shape;
}

static igi_simt_shape choice(const igi_simt_shapes *s, LLVMValueRef i) {
    igi_simt_shape condition = operand_shape(s, i, 0), a = operand_shape(s, i, 1), b = operand_shape(s, i, 2);
    if (condition.kind == IGI_SHAPE_NONE) return condition;
    return condition.kind == IGI_SHAPE_UNIFORM ? join_shapes(a, b) : varying;
}

// Operations with the same result in every lane of the simdgroup, if the group of lanes is one.
static bool answers_alike(LLVMValueRef call, const char *name) {
    bool alike = strncmp(name, "__ig_reduce_", 12) == 0 || strcmp(name, "__ig_ballot") == 0;
    LLVMValueRef last = LLVMGetOperand(call, LLVMGetNumArgOperands(call) - 1);
    return alike && LLVMIsAConstantInt(last) && LLVMConstIntGetZExtValue(last) == IGI_SIMD_WIDTH;
}

bool igi_simt_is_matrix_area(const igi_simt_shapes *s, LLVMValueRef call, unsigned at) {
    return operand_shape(s, call, at + 2).kind == IGI_SHAPE_UNIFORM &&
           operand_shape(s, call, at + 3).kind == IGI_SHAPE_UNIFORM && LLVMIsAConstantInt(LLVMGetOperand(call, at + 4));
}

static igi_simt_shape called(const igi_simt_shapes *s, LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    if (strncmp(name, "__ig_", 5) != 0) return all_uniform(s, call);
    if (strcmp(name, "__ig_simd_lane") == 0)
        return (igi_simt_shape){.kind = IGI_SHAPE_LINEAR, .stride = 1, .limit = IGI_SIMD_WIDTH, .known = s->patterns};
    if (strcmp(name, "__ig_simd_index") == 0 || strcmp(name, IGI_INSIDE) == 0) return uniform;
    if (strncmp(name, "__ig_mma_", 9) == 0 || strncmp(name, "__ig_rows_", 10) == 0) return matrix;
    if (strncmp(name, "__ig_matrix_low_", 16) == 0 || strncmp(name, "__ig_matrix_high_", 17) == 0) return matrix;
    if (strncmp(name, "__ig_matrix_even_", 17) == 0 || strncmp(name, "__ig_matrix_odd_", 16) == 0)
        return igi_simt_is_matrix_area(s, call, 0) ? matrix : varying;
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind) return uniform;
    if (s->width > IGI_SIMD_WIDTH) return varying;
    if (answers_alike(call, name)) return uniform;
    bool shuffle = strcmp(name, "__ig_shuffle_u32") == 0 || strcmp(name, "__ig_shuffle_u64") == 0;
    LLVMValueRef width = shuffle ? LLVMGetOperand(call, 2) : NULL;
    if (width && LLVMIsAConstantInt(width) && LLVMConstIntGetZExtValue(width) == 32)
        return operand_shape(s, call, 1).kind == IGI_SHAPE_UNIFORM ? uniform : varying;
    return varying;
}

static igi_simt_shape merged(const igi_simt_shapes *s, LLVMValueRef phi, uint32_t block) {
    igi_simt_shape shape = {0};
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        shape = join_shapes(shape, igi_simt_shape_of(s, LLVMGetIncomingValue(phi, k)));
    // Even the same value may come from different iterations of a loop.
    return shape.kind != IGI_SHAPE_NONE && s->join[block] ? varying : shape;
}

static igi_simt_shape transfer(const igi_simt_shapes *s, LLVMValueRef i, uint32_t block) {
    igi_simt_shape shape;
    if (igi_simt_pattern_of(s, i, &shape)) return shape;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMPHI: return merged(s, i, block);
        case LLVMAlloca: return linear(private_stride(s, i));
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
        case LLVMOr: return arithmetic(s, i);
        case LLVMGetElementPtr: return address(s, i);
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc:
        case LLVMBitCast:
        case LLVMFreeze:
        case LLVMPtrToInt:
        case LLVMIntToPtr: return conversion(s, i);
        case LLVMSelect: return choice(s, i);
        case LLVMCall: return called(s, i);
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg: return varying;
        default: return all_uniform(s, i);
    }
}

// ---- Divergence ----

// Blocks reachable from `from` without passing `stop`.
static void mark_region(const igi_simt_shapes *s, uint32_t from, uint32_t stop, bool *region, uint32_t *stack) {
    uint32_t depth = 0;
    memset(region, 0, s->cfg.count);
    stack[depth++] = from;
    while (depth) {
        const igi_simt_block *block = &s->cfg.blocks[stack[--depth]];
        for (uint32_t k = 0; k < block->successor_count; k++) {
            uint32_t to = block->successors[k];
            if (to == stop || region[to]) continue;
            region[to] = true;
            stack[depth++] = to;
        }
    }
}

// Follows the paths from `starts` in program order; where two different paths join, lanes reconverge.
static void mark_joins(igi_simt_shapes *s, const uint32_t *starts, uint32_t start_count, uint32_t *label) {
    const igi_simt_cfg *cfg = &s->cfg;
    for (uint32_t i = 0; i < cfg->count; i++) label[i] = IGI_NONE;
    for (uint32_t i = 0; i < start_count; i++) {
        // The same block twice: both edges lead there.
        if (label[starts[i]] != IGI_NONE) s->join[starts[i]] = true;
        label[starts[i]] = starts[i];
    }
    for (uint32_t n = 0; n < cfg->count; n++) {
        uint32_t at = cfg->order[n];
        if (label[at] == IGI_NONE) continue;
        for (uint32_t k = 0; k < cfg->blocks[at].successor_count; k++) {
            uint32_t to = cfg->blocks[at].successors[k];
            if (igi_simt_cfg_is_back_edge(cfg, at, to)) continue;
            if (label[to] == IGI_NONE) {
                label[to] = label[at];
            } else if (label[to] != label[at]) {
                s->join[to] = true;
                label[to] = to;
            }
        }
    }
}

static bool mark_loop(igi_simt_shapes *s, uint32_t loop, uint32_t *scratch) {
    const igi_simt_cfg *cfg = &s->cfg;
    if (s->divergent_loop[loop]) return false;
    s->divergent_loop[loop] = true;
    uint32_t *exits = scratch + cfg->count, exit_count = 0;
    for (uint32_t i = 0; i < cfg->count; i++) {
        if (!igi_simt_cfg_in_loop(cfg, i, loop)) continue;
        s->masked[i] = true;
        for (uint32_t k = 0; k < cfg->blocks[i].successor_count; k++) {
            uint32_t to = cfg->blocks[i].successors[k];
            if (igi_simt_cfg_in_loop(cfg, to, loop)) continue;
            s->join[to] = true;  // values of different iterations come out here
            bool known = false;
            for (uint32_t e = 0; e < exit_count; e++) known |= exits[e] == to;
            if (!known) exits[exit_count++] = to;
        }
    }
    if (exit_count > 1) {
        mark_joins(s, exits, exit_count, scratch);
        // Between several exits and their common post-dominator, lanes have diverged.
        for (uint32_t e = 0; e < exit_count; e++) s->masked[exits[e]] = true;
    }
    return true;
}

// Lanes diverge at the end of `block`: marks the consequences for the blocks after it.
static bool mark_branch(igi_simt_shapes *s, uint32_t block, uint32_t *scratch, bool *region) {
    const igi_simt_cfg *cfg = &s->cfg;
    const igi_simt_block *branch = &cfg->blocks[block];
    uint32_t meet = s->post_dominator[block];
    if (s->divergent_branch[block]) return false;
    s->divergent_branch[block] = true;
    mark_joins(s, branch->successors, branch->successor_count, scratch);
    mark_region(s, block, meet, region, scratch);
    for (uint32_t i = 0; i < cfg->count; i++) s->masked[i] |= region[i];
    region[block] = true;
    for (uint32_t loop = branch->loop; loop != IGI_NONE; loop = cfg->loops[loop].parent) {
        bool leaves = false;
        for (uint32_t i = 0; i < cfg->count; i++) {
            if (!region[i] || !igi_simt_cfg_in_loop(cfg, i, loop)) continue;
            for (uint32_t k = 0; k < cfg->blocks[i].successor_count; k++)
                leaves |= !igi_simt_cfg_in_loop(cfg, cfg->blocks[i].successors[k], loop);
        }
        if (leaves) mark_loop(s, loop, scratch);
    }
    return true;
}

// Several exits: everything up to the common post-dominator is masked.
static void mask_after_loops(igi_simt_shapes *s, uint32_t *scratch, bool *region) {
    const igi_simt_cfg *cfg = &s->cfg;
    for (uint32_t loop = 0; loop < cfg->loop_count; loop++) {
        if (!s->divergent_loop[loop]) continue;
        uint32_t header = cfg->loops[loop].header, meet = s->post_dominator[header];
        while (meet != IGI_NONE && igi_simt_cfg_in_loop(cfg, meet, loop)) meet = s->post_dominator[meet];
        mark_region(s, header, meet, region, scratch);
        for (uint32_t i = 0; i < cfg->count; i++) s->masked[i] |= region[i];
    }
}

// ---- Post-dominators ----

// By iteration over the reversed graph, with a virtual end after every block that has no successor.
static void find_post_dominators(igi_simt_shapes *s, uint32_t *rank, uint32_t *order) {
    const igi_simt_cfg *cfg = &s->cfg;
    uint32_t end = cfg->count;  // the virtual end ranks first
    for (uint32_t n = 0; n < cfg->count; n++) order[n] = cfg->order[cfg->count - 1 - n];
    for (uint32_t n = 0; n < cfg->count; n++) rank[order[n]] = n + 1;
    rank[end] = 0;
    uint32_t *pdom = s->post_dominator;
    for (uint32_t i = 0; i <= cfg->count; i++) pdom[i] = IGI_NONE;
    pdom[end] = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < cfg->count; n++) {
            uint32_t at = order[n], best = IGI_NONE;
            const igi_simt_block *block = &cfg->blocks[at];
            if (block->successor_count == 0) best = end;
            for (uint32_t k = 0; k < block->successor_count; k++) {
                uint32_t to = block->successors[k];
                if (pdom[to] == IGI_NONE) continue;
                if (best == IGI_NONE) {
                    best = to;
                    continue;
                }
                uint32_t a = best, b = to;
                while (a != b) {
                    while (rank[a] > rank[b]) a = pdom[a];
                    while (rank[b] > rank[a]) b = pdom[b];
                }
                best = a;
            }
            if (best != IGI_NONE && pdom[at] != best) {
                pdom[at] = best;
                changed = true;
            }
        }
    }
    for (uint32_t i = 0; i < cfg->count; i++)
        if (pdom[i] == end) pdom[i] = IGI_NONE;
}

// ---- All of it ----

static bool number_instructions(igi_simt_shapes *s) {
    for (uint32_t i = 0; i < s->cfg.count; i++)
        for (LLVMValueRef v = LLVMGetFirstInstruction(s->cfg.blocks[i].block); v; v = LLVMGetNextInstruction(v))
            if (!igi_map_set(&s->index, v, (uint32_t)s->count++)) return false;
    s->shapes = igi_calloc(s->count, sizeof *s->shapes);
    return s->shapes != NULL;
}

static bool diverges(const igi_simt_shapes *s, uint32_t block) {
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->cfg.blocks[block].block);
    if (!LLVMIsABranchInst(terminator) || !LLVMIsConditional(terminator)) return false;
    igi_simt_shape_kind kind = igi_simt_shape_of(s, LLVMGetCondition(terminator)).kind;
    return kind != IGI_SHAPE_UNIFORM && kind != IGI_SHAPE_NONE;
}

static bool update_block(igi_simt_shapes *s, uint32_t block) {
    bool changed = false;
    for (LLVMValueRef v = LLVMGetFirstInstruction(s->cfg.blocks[block].block); v; v = LLVMGetNextInstruction(v)) {
        uint32_t number;
        igi_map_get(&s->index, v, &number);
        igi_simt_shape next = join_shapes(s->shapes[number], transfer(s, v, block));
        igi_simt_shape *now = &s->shapes[number];
        bool same = next.kind == now->kind && next.stride == now->stride && next.pattern == now->pattern;
        if (same && next.limit == now->limit && next.known == now->known) continue;
        *now = next;
        changed = true;
    }
    return changed;
}

static void solve(igi_simt_shapes *s, uint32_t *scratch, bool *region) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < s->cfg.count; n++) {
            uint32_t block = s->cfg.order[n];
            changed |= update_block(s, block);
            if (diverges(s, block)) changed |= mark_branch(s, block, scratch, region);
        }
    }
    mask_after_loops(s, scratch, region);
}

bool igi_simt_shapes_build(LLVMValueRef function, LLVMValueRef linear_argument, uint32_t width, igi_simt_shapes *s) {
    *s = (igi_simt_shapes){.linear_argument = linear_argument, .width = width};
    s->layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
    if (!igi_simt_cfg_build(function, &s->cfg)) return false;
    uint32_t count = s->cfg.count;
    size_t edges = 0;
    for (uint32_t i = 0; i < count; i++) edges += s->cfg.blocks[i].successor_count;
    uint32_t *scratch = igi_calloc(3 * (size_t)count + edges + 8, sizeof *scratch);
    bool *region = igi_calloc(count, 1);
    s->divergent_branch = igi_calloc(count, 1);
    s->masked = igi_calloc(count, 1);
    s->join = igi_calloc(count, 1);
    s->divergent_loop = igi_calloc(s->cfg.loop_count, 1);
    s->post_dominator = igi_calloc(count + 1, sizeof *s->post_dominator);
    bool ok = scratch && region && s->divergent_branch && s->masked && s->join && s->divergent_loop &&
              s->post_dominator && number_instructions(s) && igi_simt_patterns_build(s);
    if (ok) {
        find_post_dominators(s, scratch, scratch + count + 1);
        solve(s, scratch, region);
    }
    free(scratch), free(region);
    if (!ok) igi_simt_shapes_free(s);
    return ok;
}

void igi_simt_shapes_free(igi_simt_shapes *s) {
    igi_simt_cfg_free(&s->cfg);
    igi_map_free(&s->index);
    free(s->shapes), free(s->divergent_branch), free(s->masked), free(s->join), free(s->divergent_loop);
    free(s->post_dominator), free(s->patterns);
    *s = (igi_simt_shapes){0};
}
