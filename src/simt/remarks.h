// SPDX-License-Identifier: Apache-2.0
// Remarks about a kernel, by source line: its width, and what keeps it from running faster.
#ifndef INGOT_SIMT_REMARKS_H
#define INGOT_SIMT_REMARKS_H

#include <llvm-c/Types.h>

#include "msl/sources.h"

// X(enumerator, name as shown)
#define IGI_REMARK_LIST(X)                  \
    X(WIDTH, "width")                       \
    X(BARRIER, "barrier")                   \
    X(GATHER, "gather")                     \
    X(ROW_GATHER, "row-gather")             \
    X(ROW_SCATTER, "row-scatter")           \
    X(SCATTER, "scatter")                   \
    X(ONE_BY_ONE, "one-by-one")             \
    X(DIVERGENT_LOOP, "divergent-loop")     \
    X(DIVERGENT_BRANCH, "divergent-branch") \
    X(PRIVATE_ARRAY, "private-array")       \
    X(DECLINED, "not-vectorised")           \
    /* From here on only counted: */        \
    X(CONTIGUOUS, "contiguous")             \
    X(SHUFFLED, "shuffled")                 \
    X(UNIFORM, "uniform")

typedef enum igi_simt_remark_kind {
#define IGI_REMARK_ENUM(name, text) IGI_REMARK_##name,
    IGI_REMARK_LIST(IGI_REMARK_ENUM)
#undef IGI_REMARK_ENUM
} igi_simt_remark_kind;
const char *igi_simt_remark_kind_name(igi_simt_remark_kind kind);

typedef struct igi_simt_remark {
    igi_simt_remark_kind kind;
    char *file;             // the user's name for it; "" if the location is not known
    uint32_t line, column;  // 0 if not known
    char *text;
} igi_simt_remark;

typedef struct igi_simt_remarks {
    const igi_msl_sources *sources;  // borrowed; the user's names of files; NULL: clang's
    const char *name;                // of the kernel: the word to point at if only the line is known
    igi_simt_remark *items;
    size_t count, capacity;
    bool failed;  // memory
} igi_simt_remarks;

// Adds a remark at a DILocation (NULL: none); for code from the standard headers, at the user's call. A NULL text means
// that memory was short. owns: takes text.
void igi_simt_remarks_add(igi_simt_remarks *remarks, igi_simt_remark_kind kind, LLVMMetadataRef place, char *text);
// The line of a DILocation, as above; 0 if not known.
uint32_t igi_simt_remarks_line(const igi_simt_remarks *remarks, LLVMMetadataRef place);
// " (line 7)", " (other.h:7)", or "" if it is the line of `from` or not known. owns: the caller's; NULL: no memory.
char *igi_simt_remarks_mention(const igi_simt_remarks *remarks, LLVMMetadataRef place, LLVMMetadataRef from);
// Sorts by location, the width first, and removes duplicates.
void igi_simt_remarks_sort(igi_simt_remarks *remarks);
// Drops all of the kinds from `first` on.
void igi_simt_remarks_drop(igi_simt_remarks *remarks, igi_simt_remark_kind first);
void igi_simt_remarks_free(igi_simt_remarks *remarks);

#endif
