// SPDX-License-Identifier: Apache-2.0
// Copying and releasing blocks.
#ifndef INGOT_BLOCK_H
#define INGOT_BLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

extern __attribute__((visibility("default"))) void *_Block_copy(const void *block);
extern __attribute__((visibility("default"))) void _Block_release(const void *block);

#ifdef __cplusplus
}
#endif

#define Block_copy(...) ((__typeof(__VA_ARGS__))_Block_copy((const void *)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void *)(__VA_ARGS__))

#endif
