// SPDX-License-Identifier: Apache-2.0
// Why the lanes of a group differ, in words for the user.
#ifndef INGOT_SIMT_EXPLAIN_H
#define INGOT_SIMT_EXPLAIN_H

#include "simt/remarks.h"
#include "simt/shape.h"

// What is needed to describe an instruction: the shapes of its function, and a way to find lines.
typedef struct igi_simt_explainer {
    const igi_simt_shapes *shapes;
    const igi_simt_remarks *remarks;
    LLVMMetadataRef place;  // of the remark: only other lines are mentioned
} igi_simt_explainer;

// "the index is loaded from memory (line 7)": why the lanes' addresses are not contiguous.
// owns: the caller's; NULL when memory is short.
char *igi_simt_explain_address(const igi_simt_explainer *e, LLVMValueRef address);
// "is loaded from memory": why lanes diverge at it.
char *igi_simt_explain_condition(const igi_simt_explainer *e, LLVMValueRef condition);

#endif
