// SPDX-License-Identifier: Apache-2.0
// Elements of structs and small vectors, from the order in memory to one vector for each element, and back. Each lane
// has `size` elements; in memory they are contiguous, and a piece is as many of them as there are lanes.
#ifndef INGOT_SIMT_TRANSPOSE_H
#define INGOT_SIMT_TRANSPOSE_H

#include "simt/widen.h"

enum { IGI_SIMT_MOST_PIECES = 64 };

// pieces[0..size) -> elements[0..size), of which each has one element of every lane.
void igi_simt_sort_by_element(igi_simt_widener *w, LLVMValueRef *pieces, uint32_t size, LLVMValueRef *elements);
// elements[0..size) -> pieces[0..size)
void igi_simt_sort_by_lane(igi_simt_widener *w, LLVMValueRef *elements, uint32_t size, LLVMValueRef *pieces);
// Vectors of one type, end to end; `count` is a power of two.
LLVMValueRef igi_simt_concatenate(igi_simt_widener *w, LLVMValueRef *parts, uint32_t count);
// Part `part` of each word, as `type`.
LLVMValueRef igi_simt_part_of_word(igi_simt_widener *w, LLVMValueRef word, uint32_t part, LLVMTypeRef type);

#endif
