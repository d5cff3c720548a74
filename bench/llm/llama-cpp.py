# SPDX-License-Identifier: Apache-2.0
"""llama.cpp, by the package xllamacpp, for `ingot bench llm`: llama-cpp.py THREADS MODEL.

First says its name, or nothing when it is not there. Then, for each line "prompt N" or "generate N": the tokens a second
of taking in N tokens, or of writing N.
"""
import ctypes
import os
import sys

THREADS, MODEL = int(sys.argv[1]), sys.argv[2]

if sys.platform == "linux":
    # The parent stops us between answers. If it dies in the meantime, nothing would continue us.
    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)

try:
    import xllamacpp
except ImportError:
    sys.exit(1)

# The library's output must not be mistaken for answers.
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)


def make_server():
    params = xllamacpp.CommonParams()
    params.model.path = MODEL
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    return xllamacpp.Server(params)


def rate(server, what, count):
    prompt = [100 + i * 37 % 400 for i in range(count if what == "prompt" else 1)]
    answer = server.handle_completions({"prompt": prompt, "n_predict": 1 if what == "prompt" else count,
                                        "temperature": 0, "cache_prompt": False, "ignore_eos": True})
    return answer["timings"]["prompt_per_second" if what == "prompt" else "predicted_per_second"]


def main():
    server = make_server()
    print("llama.cpp", file=answers)
    for line in sys.stdin:
        what, count = line.split()
        try:
            print(rate(server, what, int(count)), file=answers)
        except (RuntimeError, KeyError, ValueError):
            print(-1, file=answers)


main()
