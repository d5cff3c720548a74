// SPDX-License-Identifier: Apache-2.0
// Parameters and built-in values become loads from igi_simt_group.
//
// Values are stored into the memory of each parameter after the stores of clang's calling convention;
// mem2reg sees through both. Functions called by the kernel reach the same values through placeholder calls that
// igi_simt_replace_placeholders resolves once everything is inlined.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "msl/annotations.h"
#include "msl/type-names.h"
#include "simt/ir.h"
#include "simt/passes.h"

typedef struct binder {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    LLVMTypeRef i32, pointer;
} binder;

static const char group_call[] = "ig.group";
static const char *const local_calls[3] = {"ig.local.x", "ig.local.y", "ig.local.z"};
static const char lane_call[] = "__ig_lane_id", simdgroup_call[] = "__ig_simdgroup_id";
static const char log_call[] = "__ig_log";

// ---- Values of one thread ----

static LLVMValueRef placeholder(binder *b, const char *name, LLVMTypeRef type) {
    LLVMTypeRef function_type = LLVMFunctionType(type, NULL, 0, 0);
    LLVMValueRef function = igi_simt_declare(b->m->module, name, function_type);
    return LLVMBuildCall2(b->builder, function_type, function, NULL, 0, "");
}

static LLVMValueRef number(binder *b, uint64_t value) {
    return LLVMConstInt(b->i32, value, 0);
}

// Nothing changes an igi_simt_group while a kernel runs, so its loads may be moved and merged freely.
static LLVMValueRef load_invariant(binder *b, LLVMTypeRef type, LLVMValueRef address) {
    LLVMValueRef load = LLVMBuildLoad2(b->builder, type, address, "");
    unsigned kind = LLVMGetMDKindIDInContext(b->m->context, "invariant.load", 14);
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(b->m->context, NULL, 0);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(b->m->context, nothing));
    return load;
}

// Sizes that the code is compiled for are constants.
static bool is_known_size(const binder *b, size_t offset, unsigned component) {
    bool size = offset == offsetof(igi_simt_group, size) || offset == offsetof(igi_simt_group, dispatch_size);
    return size && b->m->request->group[component];
}

static LLVMValueRef group_u32(binder *b, const char *name, size_t offset, unsigned component) {
    if (is_known_size(b, offset, component)) return LLVMConstInt(b->i32, b->m->request->group[component], 0);
    LLVMValueRef group = placeholder(b, group_call, b->pointer);
    LLVMValueRef field = load_invariant(b, b->i32, igi_simt_field(b->builder, group, offset + (size_t)4 * component));
    igi_simt_set_name(field, name);
    return field;
}

#define GROUP(b, field, component) group_u32(b, "group." #field, offsetof(igi_simt_group, field), component)

static LLVMValueRef local(binder *b, unsigned component) {
    return placeholder(b, local_calls[component], b->i32);
}

static LLVMValueRef linear_index(binder *b) {
    LLVMBuilderRef builder = b->builder;
    LLVMValueRef row = LLVMBuildMul(builder, GROUP(b, size, 1), local(b, 2), "");
    row = LLVMBuildAdd(builder, row, local(b, 1), "");
    return LLVMBuildAdd(builder, LLVMBuildMul(builder, row, GROUP(b, size, 0), ""), local(b, 0), "");
}

static LLVMValueRef thread_count(binder *b, size_t offset) {
    LLVMValueRef count =
        LLVMBuildMul(b->builder, group_u32(b, "group.size", offset, 0), group_u32(b, "group.size", offset, 1), "");
    return LLVMBuildMul(b->builder, count, group_u32(b, "group.size", offset, 2), "");
}

static LLVMValueRef divide(binder *b, LLVMValueRef value, unsigned divisor) {
    return LLVMBuildUDiv(b->builder, value, number(b, divisor), "");
}

static LLVMValueRef divide_up(binder *b, LLVMValueRef value, unsigned divisor) {
    return divide(b, LLVMBuildAdd(b->builder, value, number(b, divisor - 1), ""), divisor);
}

static LLVMValueRef modulo(binder *b, LLVMValueRef value, unsigned power_of_two) {
    return LLVMBuildAnd(b->builder, value, number(b, power_of_two - 1), "");
}

// A call for the linear index that stays until it is known how threads are grouped (simd-place.c).
// `for (short i = thread_index_in_simdgroup; i < 32; i += 32)` is no loop, and `short` does not wrap in it.
static void limit_result(LLVMValueRef function, uint64_t end) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
    uint64_t zero = 0;
    unsigned kind = LLVMGetEnumAttributeKindForName("range", strlen("range"));
    LLVMAttributeRef range = LLVMCreateConstantRangeAttribute(context, kind, 32, &zero, &end);
    LLVMAddAttributeAtIndex(function, LLVMAttributeReturnIndex, range);
}

static LLVMValueRef simd_place(binder *b, const char *name) {
    LLVMTypeRef type = LLVMFunctionType(b->i32, &b->i32, 1, 0);
    LLVMValueRef function = igi_simt_declare(b->m->module, name, type), index = linear_index(b);
    limit_result(function,
                 strcmp(name, "__ig_simd_lane") == 0 ? IGI_SIMD_WIDTH : IGI_MAX_GROUP_THREADS / IGI_SIMD_WIDTH);
    igi_simt_add_attribute(function, "memory");  // none
    igi_simt_add_attribute(function, "nounwind");
    igi_simt_add_attribute(function, "willreturn");
    return LLVMBuildCall2(b->builder, type, function, &index, 1, "");
}

static LLVMValueRef builtin_value(binder *b, igi_msl_builtin builtin, unsigned component) {
    size_t size = offsetof(igi_simt_group, size), dispatch = offsetof(igi_simt_group, dispatch_size);
    switch (builtin) {
        case IGI_BUILTIN_thread_position_in_grid:
            return LLVMBuildAdd(b->builder, GROUP(b, origin, component), local(b, component), "");
        case IGI_BUILTIN_thread_position_in_threadgroup: return local(b, component);
        case IGI_BUILTIN_threadgroup_position_in_grid: return GROUP(b, position, component);
        case IGI_BUILTIN_threads_per_grid: return GROUP(b, grid, component);
        case IGI_BUILTIN_grid_size: return GROUP(b, stage_size, component);
        case IGI_BUILTIN_grid_origin: return GROUP(b, stage_origin, component);
        case IGI_BUILTIN_threads_per_threadgroup: return GROUP(b, size, component);
        case IGI_BUILTIN_threadgroups_per_grid: return GROUP(b, groups, component);
        case IGI_BUILTIN_dispatch_threads_per_threadgroup: return GROUP(b, dispatch_size, component);
        case IGI_BUILTIN_thread_index_in_threadgroup: return linear_index(b);
        case IGI_BUILTIN_thread_index_in_simdgroup: return simd_place(b, "__ig_simd_lane");
        case IGI_BUILTIN_thread_index_in_quadgroup: return modulo(b, linear_index(b), IGI_QUAD_WIDTH);
        case IGI_BUILTIN_simdgroup_index_in_threadgroup: return simd_place(b, "__ig_simd_index");
        case IGI_BUILTIN_quadgroup_index_in_threadgroup: return divide(b, linear_index(b), IGI_QUAD_WIDTH);
        case IGI_BUILTIN_simdgroups_per_threadgroup: return divide_up(b, thread_count(b, size), IGI_SIMD_WIDTH);
        case IGI_BUILTIN_quadgroups_per_threadgroup: return divide_up(b, thread_count(b, size), IGI_QUAD_WIDTH);
        case IGI_BUILTIN_dispatch_simdgroups_per_threadgroup:
            return divide_up(b, thread_count(b, dispatch), IGI_SIMD_WIDTH);
        case IGI_BUILTIN_dispatch_quadgroups_per_threadgroup:
            return divide_up(b, thread_count(b, dispatch), IGI_QUAD_WIDTH);
        case IGI_BUILTIN_threads_per_simdgroup:
        case IGI_BUILTIN_thread_execution_width: return number(b, IGI_SIMD_WIDTH);
        case IGI_BUILTIN_COUNT: break;
    }
    return number(b, 0);
}

// ---- Parameters ----

static void position_after(LLVMBuilderRef builder, LLVMValueRef instruction) {
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(instruction));
}

static bool is_position(igi_msl_builtin builtin) {
    return builtin == IGI_BUILTIN_thread_position_in_grid || builtin == IGI_BUILTIN_thread_position_in_threadgroup;
}

// Built-in values that do not depend on the threadgroup size.
static bool is_of_grid(igi_msl_builtin builtin) {
    return builtin == IGI_BUILTIN_thread_position_in_grid || builtin == IGI_BUILTIN_threads_per_grid ||
           builtin == IGI_BUILTIN_grid_size || builtin == IGI_BUILTIN_grid_origin ||
           builtin == IGI_BUILTIN_threads_per_simdgroup || builtin == IGI_BUILTIN_thread_execution_width;
}

// The parameter's memory holds a uint or ushort, or a vector of them.
static void bind_builtin(binder *b, const igi_msl_parameter *parameter) {
    LLVMTypeRef type = LLVMGetAllocatedType(parameter->storage);
    while (LLVMGetTypeKind(type) == LLVMStructTypeKind) type = LLVMStructGetTypeAtIndex(type, 0);
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    unsigned count = vector ? LLVMGetVectorSize(type) : 1;
    LLVMTypeRef scalar = vector ? LLVMGetElementType(type) : type;
    unsigned bytes = LLVMGetIntTypeWidth(scalar) / 8;
    if (count > 1 && is_position(parameter->builtin)) b->m->many_dimensions = true;
    if (!is_of_grid(parameter->builtin)) b->m->knows_its_group = true;
    for (unsigned i = 0; i < count && i < 3; i++) {
        LLVMValueRef value = builtin_value(b, parameter->builtin, i);
        if (bytes < 4) value = LLVMBuildTrunc(b->builder, value, scalar, "");
        LLVMSetAlignment(
            LLVMBuildStore(b->builder, value, igi_simt_field(b->builder, parameter->storage, (size_t)i * bytes)),
            bytes);
    }
}

static bool condition_holds(const igi_simt_module *m, const char *name) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g; g = LLVMGetNextGlobal(g)) {
        size_t length;
        const char *symbol = LLVMGetValueName2(g, &length);
        if (strncmp(symbol, "ig.fc.", 6) != 0 || strcmp(strrchr(symbol, '.') + 1, name) != 0) continue;
        LLVMValueRef value = LLVMGetInitializer(g);
        return !value || !LLVMIsNull(value);
    }
    return true;  // derived from others: the slot decides, missing ones are NULL
}

static uint64_t promised(const igi_simt_module *m, LLVMValueRef argument, const char *promise) {
    unsigned index = 1;
    while (index <= LLVMCountParams(m->kernel) && LLVMGetParam(m->kernel, index - 1) != argument) index++;
    if (index > LLVMCountParams(m->kernel)) return 0;
    unsigned kind = LLVMGetEnumAttributeKindForName(promise, strlen(promise));
    LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(m->kernel, index, kind);
    return attribute ? LLVMGetEnumAttributeValue(attribute) : 0;
}

static void attach_number(binder *b, LLVMValueRef load, const char *name, uint64_t value) {
    LLVMContextRef context = b->m->context;
    LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), value, 0));
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name)),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &number, 1)));
}

// `constant T &`: commands refuse to bind less than a T, so it can be read speculatively.
static void note_constant(binder *b, const igi_msl_parameter *parameter, LLVMValueRef load) {
    if (strcmp(parameter->space, "constant") != 0) return;
    b->m->constant_slots |= 1ull << parameter->index;
    uint64_t bytes = parameter->argument ? promised(b->m, parameter->argument, "dereferenceable") : 0;
    uint64_t alignment = parameter->argument ? promised(b->m, parameter->argument, "align") : 0;
    if (parameter->condition || !bytes || !alignment) return;
    attach_number(b, load, "dereferenceable", bytes);
    attach_number(b, load, "align", alignment);
}

// Where in the group the argument is.
static size_t slot_offset(const igi_msl_parameter *parameter, size_t element) {
    size_t index = (size_t)parameter->index + element;
    switch (parameter->kind) {
        case IG_ARGUMENT_TEXTURE: return offsetof(igi_simt_group, textures) + index * sizeof(void *);
        case IG_ARGUMENT_SAMPLER: return offsetof(igi_simt_group, samplers) + index * sizeof(uint64_t);
        case IG_ARGUMENT_THREADGROUP: index += IGI_MAX_SLOTS; break;
        default: break;
    }
    return offsetof(igi_simt_group, arguments) + index * sizeof(void *);
}

static LLVMValueRef load_slot(binder *b, const igi_msl_parameter *parameter, size_t element) {
    LLVMTypeRef type = parameter->kind == IG_ARGUMENT_SAMPLER ? LLVMInt64TypeInContext(b->m->context) : b->pointer;
    if (parameter->condition && !condition_holds(b->m, parameter->condition)) return LLVMConstNull(type);
    LLVMValueRef group = placeholder(b, group_call, b->pointer);
    LLVMValueRef value = load_invariant(b, type, igi_simt_field(b->builder, group, slot_offset(parameter, element)));
    igi_simt_name_like(value, parameter->storage);
    if (parameter->kind == IG_ARGUMENT_BUFFER) note_constant(b, parameter, value);
    return value;
}

// The memory of an array that is passed by its address is the kernel's.
static LLVMValueRef storage_of(binder *b, const igi_msl_parameter *parameter, uint32_t count) {
    if (!LLVMIsAArgument(parameter->storage)) return parameter->storage;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(b->m->kernel), here = LLVMGetInsertBlock(b->builder);
    LLVMPositionBuilderBefore(b->builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef memory = LLVMBuildAlloca(b->builder, LLVMArrayType2(b->pointer, count), "");
    LLVMReplaceAllUsesWith(parameter->storage, memory);
    position_after(b->builder, parameter->anchor);
    assert(LLVMGetInsertBlock(b->builder) == here);
    (void)here;
    return memory;
}

// An array of textures or samplers takes consecutive slots.
static void bind_slot(binder *b, const igi_msl_parameter *parameter, uint32_t count) {
    LLVMValueRef storage = storage_of(b, parameter, count);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef place = i ? igi_simt_field(b->builder, storage, i * sizeof(void *)) : storage;
        LLVMBuildStore(b->builder, load_slot(b, parameter, i), place);
    }
}

// The reflection has already refused kernels whose parameters have the wrong types.
static ig_status bind_parameters(binder *b) {
    igi_msl_parameters parameters;
    igi_msl_signature signature;
    if (!igi_msl_parameters_read(b->m->kernel, &parameters)) return igi_error_no_memory(b->m->error);
    igi_msl_number_open_slots(&parameters);
    igi_msl_signature_read(b->m->request->symbol, &signature);
    for (size_t i = 0; i < parameters.count; i++) {
        const igi_msl_parameter *parameter = &parameters.items[i];
        position_after(b->builder, parameter->anchor);
        if (parameter->kind == IG_ARGUMENT_BUILTIN)
            bind_builtin(b, parameter);
        else
            bind_slot(b, parameter, i < signature.count ? igi_msl_array_length(signature.types[i]) : 1);
    }
    igi_msl_signature_free(&signature);
    igi_msl_parameters_free(&parameters);
    return IG_STATUS_OK;
}

// ---- The thread function ----

enum { MOST_PARAMETERS = 64 };

static void make_thread(binder *b) {
    igi_simt_module *m = b->m;
    LLVMTypeRef parameters[] = {b->pointer, b->i32, b->i32, b->i32, b->pointer};
    LLVMTypeRef type = LLVMFunctionType(b->pointer, parameters, 5, 0);
    m->thread = LLVMAddFunction(m->module, "ig.thread", type);
    igi_simt_add_attribute(m->thread, "nounwind");
    static const char *const names[] = {"group", "x", "y", "z", "lane"};
    for (unsigned i = 0; i < 5; i++) igi_simt_set_name(LLVMGetParam(m->thread, i), names[i]);
    LLVMPositionBuilderAtEnd(b->builder, LLVMAppendBasicBlockInContext(m->context, m->thread, "entry"));
    // Overwritten at once by bind_parameters. Zeros, not poison: partial stores over poison stay poison.
    LLVMValueRef arguments[MOST_PARAMETERS];
    unsigned count = LLVMCountParams(m->kernel);
    assert(count <= MOST_PARAMETERS);
    for (unsigned i = 0; i < count; i++) arguments[i] = LLVMConstNull(LLVMTypeOf(LLVMGetParam(m->kernel, i)));
    LLVMSetCurrentDebugLocation2(b->builder, NULL);  // otherwise the kernel would appear to be inlined into itself
    LLVMBuildCall2(b->builder, LLVMGlobalGetValueType(m->kernel), m->kernel, arguments, count, "");
    LLVMBuildRet(b->builder, LLVMConstPointerNull(b->pointer));
    LLVMSetLinkage(m->kernel, LLVMInternalLinkage);
}

// clang's attributes on arguments (nonnull, dereferenceable) do not hold for our zeros.
static void drop_promises(LLVMValueRef kernel) {
    static const char *const promises[] = {"noundef", "nonnull", "dereferenceable", "align"};
    for (unsigned i = 1; i <= LLVMCountParams(kernel); i++)
        for (size_t k = 0; k < sizeof promises / sizeof *promises; k++)
            LLVMRemoveEnumAttributeAtIndex(kernel, i,
                                           LLVMGetEnumAttributeKindForName(promises[k], strlen(promises[k])));
}

ig_status igi_simt_pass_bind(igi_simt_module *m) {
    binder b = {.m = m,
                .builder = LLVMCreateBuilderInContext(m->context),
                .i32 = LLVMInt32TypeInContext(m->context),
                .pointer = LLVMPointerTypeInContext(m->context, 0)};
    ig_status status = IG_STATUS_OK;
    if (LLVMCountParams(m->kernel) > MOST_PARAMETERS)
        status =
            igi_error_set(m->error, IG_STATUS_UNSUPPORTED, "kernel '%s' has more than 64 parameters", m->request->name);
    if (status == IG_STATUS_OK) status = bind_parameters(&b);
    if (status == IG_STATUS_OK) {
        drop_promises(m->kernel);
        make_thread(&b);
    }
    LLVMDisposeBuilder(b.builder);
    return status;
}

// ---- After inlining ----

// What takes the place of a call.
typedef LLVMValueRef (*replacement)(void *context, LLVMValueRef call);

static void replace_each(igi_simt_module *m, const char *name, replacement value, void *context) {
    LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
    LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL;
    while (use) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) != m->thread) continue;
        LLVMReplaceAllUsesWith(call, value(context, call));
        LLVMInstructionEraseFromParent(call);
    }
}

static LLVMValueRef same_value(void *value, LLVMValueRef call) {
    (void)call;
    return value;
}

static void replace_calls(igi_simt_module *m, const char *name, LLVMValueRef value) {
    replace_each(m, name, same_value, value);
}

// __ig_grid_value: 0 to 2 position, 3 to 5 origin of the region of [[stage_in]], 6 to 8 its size.
static LLVMValueRef grid_value(void *context, LLVMValueRef call) {
    binder *b = context;
    LLVMValueRef which = LLVMGetOperand(call, 0);
    LLVMPositionBuilderBefore(b->builder, call);
    static const igi_msl_builtin values[] = {IGI_BUILTIN_thread_position_in_grid, IGI_BUILTIN_grid_origin,
                                             IGI_BUILTIN_grid_size};
    uint64_t number = LLVMIsAConstantInt(which) ? LLVMConstIntGetZExtValue(which) : 0;
    if (number >= 9) number = 0;
    if (number == 1 || number == 2) b->m->many_dimensions = true;
    return builtin_value(b, values[number / 3], (unsigned)(number % 3));
}

// The slot that the pipeline names for an attribute, or IGI_MAX_SLOTS: device/stage-input.c has the constants.
static uint32_t stage_slot(const igi_simt_request *request, uint64_t attribute, bool of_indices) {
    char name[32];
    snprintf(name, sizeof name, "__ig_stage_%u_%c", (unsigned)attribute, of_indices ? 'b' : 'a');
    for (size_t i = 0; i < request->constant_count; i++) {
        const ig_function_constant *given = &request->constants[i];
        if (!given->name || strcmp(given->name, name) != 0 || given->type != IG_TYPE_U32 || given->components != 4)
            continue;
        uint32_t words[4];
        memcpy(words, given->value, sizeof words);
        return words[2] < IGI_MAX_SLOTS ? words[2] : IGI_MAX_SLOTS;
    }
    return IGI_MAX_SLOTS;
}

// __ig_stage_buffer: of an attribute, or from 32 on that of its indices.
static LLVMValueRef stage_buffer(void *context, LLVMValueRef call) {
    binder *b = context;
    LLVMValueRef which = LLVMGetOperand(call, 0);
    LLVMPositionBuilderBefore(b->builder, call);
    uint64_t number = LLVMIsAConstantInt(which) ? LLVMConstIntGetZExtValue(which) : 0;
    uint32_t slot = stage_slot(b->m->request, number % 32, number / 32 == 1);
    if (slot == IGI_MAX_SLOTS) return LLVMConstPointerNull(b->pointer);
    size_t offset = offsetof(igi_simt_group, arguments) + slot * sizeof(void *);
    return load_invariant(b, b->pointer, igi_simt_field(b->builder, LLVMGetParam(b->m->thread, 0), offset));
}

// __ig_stage_stride: what commands say of an attribute's buffer.
static LLVMValueRef stage_stride(void *context, LLVMValueRef call) {
    binder *b = context;
    LLVMValueRef which = LLVMGetOperand(call, 0);
    LLVMPositionBuilderBefore(b->builder, call);
    uint64_t number_of = LLVMIsAConstantInt(which) ? LLVMConstIntGetZExtValue(which) : 0;
    uint32_t slot = stage_slot(b->m->request, number_of % 32, false);
    return slot == IGI_MAX_SLOTS ? number(b, 0) : GROUP(b, stage_strides, slot);
}

ig_status igi_simt_replace_placeholders(igi_simt_module *m) {
    binder b = {.m = m,
                .builder = LLVMCreateBuilderInContext(m->context),
                .i32 = LLVMInt32TypeInContext(m->context),
                .pointer = LLVMPointerTypeInContext(m->context, 0)};
    replace_each(m, "__ig_grid_value", grid_value, &b);
    replace_each(m, "__ig_stage_buffer", stage_buffer, &b);
    replace_each(m, "__ig_stage_stride", stage_stride, &b);
    LLVMPositionBuilderBefore(b.builder, igi_simt_first_after_allocas(m->thread));
    if (LLVMGetNamedFunction(m->module, lane_call)) replace_calls(m, lane_call, simd_place(&b, "__ig_simd_lane"));
    if (LLVMGetNamedFunction(m->module, simdgroup_call))
        replace_calls(m, simdgroup_call, simd_place(&b, "__ig_simd_index"));
    if (LLVMGetNamedFunction(m->module, log_call)) {
        LLVMValueRef field = igi_simt_field(b.builder, LLVMGetParam(m->thread, 0), offsetof(igi_simt_group, log));
        LLVMValueRef log = load_invariant(&b, b.pointer, field);
        igi_simt_set_name(log, "log");
        replace_calls(m, log_call, log);
        m->info.logs = LLVMGetFirstUse(log) != NULL;
    }
    replace_calls(m, group_call, LLVMGetParam(m->thread, 0));
    for (unsigned i = 0; i < 3; i++) replace_calls(m, local_calls[i], LLVMGetParam(m->thread, i + 1));
    LLVMDisposeBuilder(b.builder);
    return IG_STATUS_OK;
}
