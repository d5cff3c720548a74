// SPDX-License-Identifier: Apache-2.0
// Bundles, gathers and scatters in quick code: a function reads or writes the neighbouring elements of each lane, one
// lane after the other. Rows of many lanes that are read one by one and shuffled are a hundred instructions.
#include <assert.h>
#include <stdio.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { MOST_BYTES = 64 };  // of a row

// Arguments of such a function. Element k of all lanes follows element k - 1 of all lanes.
enum { ADDRESSES, ELEMENTS, ACTIVE, ARGUMENTS };

typedef struct rows {
    LLVMTypeRef part;  // an integer as large as an element
    uint32_t size;     // elements of each lane
    bool loads;
} rows;

static LLVMValueRef element_at(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef index) {
    return LLVMBuildGEP2(w->builder, type, base, &index, 1, "");
}

// Addresses may be those of packed members.
static void copy(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef from, LLVMValueRef to) {
    LLVMValueRef value = LLVMBuildLoad2(w->builder, type, from, "");
    LLVMSetAlignment(value, 1);
    LLVMSetAlignment(LLVMBuildStore(w->builder, value, to), 1);
}

static void copy_row(igi_simt_widener *w, const rows *r, LLVMValueRef function, LLVMValueRef lane) {
    LLVMValueRef address = element_at(w, w->pointer, LLVMGetParam(function, ADDRESSES), lane);
    LLVMValueRef row = LLVMBuildLoad2(w->builder, w->pointer, address, "row");
    LLVMValueRef column = element_at(w, r->part, LLVMGetParam(function, ELEMENTS), lane);
    for (uint32_t k = 0; k < r->size; k++) {
        LLVMValueRef in_row = element_at(w, r->part, row, LLVMConstInt(w->i64, k, 0));
        LLVMValueRef here = element_at(w, r->part, column, LLVMConstInt(w->i64, (uint64_t)k * w->width, 0));
        copy(w, r->part, r->loads ? in_row : here, r->loads ? here : in_row);
    }
}

static LLVMValueRef make_function(igi_simt_widener *w, const char *name, LLVMTypeRef type, const rows *r) {
    igi_simt_shared outer;
    igi_simt_lane_rounds rounds;
    LLVMValueRef function = igi_simt_begin_shared(w, name, type, &outer);
    copy_row(w, r, function, igi_simt_begin_lanes(w, LLVMGetParam(function, ACTIVE), &rounds));
    igi_simt_end_lanes(w, &rounds);
    igi_simt_end_shared(w, &outer);
    return function;
}

static LLVMValueRef slot(igi_simt_widener *w, LLVMValueRef *kept, LLVMTypeRef type) {
    if (!*kept) *kept = LLVMBuildAlloca(w->slots, type, IGI_TEMPORARY);
    return *kept;
}

bool igi_simt_may_call_for_rows(const igi_simt_widener *w, LLVMTypeRef element, uint32_t size) {
    return w->m->request->first_tier && w->width <= IGI_MOST_SHARED_LANES &&
           size * LLVMABISizeOfType(w->s.layout, element) <= MOST_BYTES;
}

static rows open_rows(igi_simt_widener *w, LLVMTypeRef element, uint32_t size, bool loads) {
    assert(igi_simt_may_call_for_rows(w, element, size));
    unsigned bits = 8 * (unsigned)LLVMABISizeOfType(w->s.layout, element);
    slot(w, &w->row_addresses, LLVMVectorType(w->pointer, w->width));
    slot(w, &w->row_elements, LLVMArrayType2(w->i8, (uint64_t)w->width * MOST_BYTES));
    return (rows){LLVMIntTypeInContext(w->m->context, bits), size, loads};
}

static void call(igi_simt_widener *w, const rows *r, LLVMValueRef addresses) {
    LLVMTypeRef types[ARGUMENTS] = {w->pointer, w->pointer, w->i64};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m->context), types, ARGUMENTS, 0);
    char name[48];
    snprintf(name, sizeof name, "ig.rows.%s.%ux%u.%u", r->loads ? "load" : "store", r->size,
             LLVMGetIntTypeWidth(r->part), w->width);
    LLVMValueRef function = LLVMGetNamedFunction(w->m->module, name);
    if (!function) function = make_function(w, name, type, r);
    LLVMValueRef arguments[ARGUMENTS] = {w->row_addresses, w->row_elements, igi_simt_active_lanes(w)};
    LLVMBuildStore(w->builder, addresses, w->row_addresses);
    LLVMBuildCall2(w->builder, type, function, arguments, ARGUMENTS, "");
}

// Where element k of all lanes is.
static LLVMValueRef place(igi_simt_widener *w, const rows *r, uint32_t k) {
    return element_at(w, r->part, w->row_elements, LLVMConstInt(w->i64, (uint64_t)k * w->width, 0));
}

void igi_simt_load_rows_by_call(igi_simt_widener *w, LLVMValueRef addresses, LLVMTypeRef element, uint32_t size,
                                LLVMValueRef *elements) {
    rows r = open_rows(w, element, size, true);
    call(w, &r, addresses);
    for (uint32_t k = 0; k < size; k++) {
        elements[k] = LLVMBuildLoad2(w->builder, igi_simt_widen_type(w, element), place(w, &r, k), "");
        LLVMSetAlignment(elements[k], 1);
    }
}

void igi_simt_store_rows_by_call(igi_simt_widener *w, LLVMValueRef addresses, LLVMValueRef *elements, uint32_t size) {
    rows r = open_rows(w, LLVMGetElementType(LLVMTypeOf(elements[0])), size, false);
    for (uint32_t k = 0; k < size; k++) LLVMSetAlignment(LLVMBuildStore(w->builder, elements[k], place(w, &r, k)), 1);
    call(w, &r, addresses);
}
