// SPDX-License-Identifier: Apache-2.0
// Peers in Python, each in a child that answers lines with numbers.
#ifndef INGOT_BENCH_COMMON_PYTHON_H
#define INGOT_BENCH_COMMON_PYTHON_H

// A peer in a child of python3, or of what INGOT_PYTHON names: runs a script of bench/ with up to four arguments, NULL
// after the last. NULL: it ended before it said anything. Between answers it is stopped, because its threads would go
// on spinning for longer than anybody wants to wait.
typedef struct bench_python bench_python;
bench_python *bench_python_start(const char *script, const char *const *arguments);
// One line there, one number back; negative when it has no such thing.
double bench_python_ask(bench_python *python, const char *line);
void bench_python_end(bench_python *python);

#endif
