#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Checks traces against the Trace Event Format (JSON array form), as Perfetto and chrome://tracing read it:
#   validate-trace.py FILE...
# Fields that each phase needs, names for every process and track, complete events of a track that nest, flows with both
# ends. Prints what the traces have, or what is wrong.
import json
import sys
from decimal import Decimal

METADATA = {"process_name", "thread_name", "process_sort_index", "thread_sort_index", "process_labels"}


class Invalid(Exception):
    pass


def need(event, key, types):
    value = event.get(key)
    if not isinstance(value, types) or isinstance(value, bool):
        raise Invalid(f"'{key}' is {value!r} in {event}")
    return value


def nanoseconds(event, key):
    value = Decimal(need(event, key, (int, Decimal))) * 1000
    if value < 0 or value != int(value):
        raise Invalid(f"'{key}' is no whole number of nanoseconds in {event}")
    return int(value)


def check_metadata(event, named):
    if event["name"] not in METADATA:
        raise Invalid(f"unknown metadata {event}")
    if event["name"].endswith("_name"):
        need(need(event, "args", dict), "name", str)
        key = (event["pid"],) if event["name"] == "process_name" else (event["pid"], event["tid"])
        if key in named:
            raise Invalid(f"named twice: {event}")
        named.add(key)


def check_event(event, named, spans, flows):
    if not isinstance(event, dict):
        raise Invalid(f"no object: {event!r}")
    need(event, "name", str)
    phase, pid, tid = need(event, "ph", str), need(event, "pid", int), need(event, "tid", int)
    if phase == "M":
        check_metadata(event, named)
        return
    need(event, "cat", str)
    start = nanoseconds(event, "ts")
    if phase == "X":
        need(event, "args", dict)
        spans.setdefault((pid, tid), []).append((start, start + nanoseconds(event, "dur"), event["name"]))
    elif phase in "stf" and len(phase) == 1:
        flows.setdefault((event["cat"], event["name"], need(event, "id", (int, str))), []).append(phase)
    else:
        raise Invalid(f"unknown phase in {event}")


# An event that begins inside of another one must end inside of it: a track is a stack.
def check_nesting(spans):
    for track, events in spans.items():
        stack = []
        for start, end, name in sorted(events, key=lambda e: (e[0], -e[1])):
            while stack and stack[-1][0] <= start:
                stack.pop()
            if stack and end > stack[-1][0]:
                raise Invalid(f"track {track}: '{name}' from {start} to {end} ns ends after '{stack[-1][1]}', at {stack[-1][0]}")
            stack.append((end, name))


def check(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file, parse_float=Decimal)
    if not isinstance(events, list) or not events:
        raise Invalid("no array of events")
    named, spans, flows = set(), {}, {}
    for event in events:
        check_event(event, named, spans, flows)
    for pid, tid in spans:
        if (pid,) not in named or (pid, tid) not in named:
            raise Invalid(f"process {pid}, track {tid} has no name")
    for key, phases in flows.items():
        if phases.count("s") != 1 or phases.count("f") != 1:
            raise Invalid(f"flow {key} has phases {phases}")
    check_nesting(spans)
    return f"{sum(map(len, spans.values()))} events on {len(spans)} tracks"


def main():
    for path in sys.argv[1:]:
        try:
            print(check(path))
        except (Invalid, ValueError, OSError) as problem:
            print(f"{path}: {problem}")
            return 1
    return 0


sys.exit(main())
