// SPDX-License-Identifier: Apache-2.0
// Peers in Python, each in a child process that answers lines with numbers.
#ifndef INGOT_BENCH_COMMON_PYTHON_H
#define INGOT_BENCH_COMMON_PYTHON_H

// A peer in a child process of python3, or of what INGOT_PYTHON names: runs a script of bench/ with up to four
// arguments, followed by NULL. NULL: it ended before it printed anything. It is stopped between answers, because its
// threads would keep spinning for a long time.
typedef struct bench_python bench_python;
bench_python *bench_python_start(const char *script, const char *const *arguments);
// Sends one line and reads one number; negative if the peer does not have the case.
double bench_python_ask(bench_python *python, const char *line);
void bench_python_end(bench_python *python);

#endif
