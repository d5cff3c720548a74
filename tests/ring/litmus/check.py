#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks litmus tests against the memory model of C: every execution that weakly ordered CPUs may have.

The files are in the C format of herd7. This checker enumerates candidate executions (which write each read sees, in
which order writes of a location become visible) and keeps those that RC11 allows (Lahav, Vafeiadis, Kang, Hur, Dreyer:
Repairing Sequential Consistency in C/C++11, PLDI 2017). Code that compilers make for ARM64 and x86-64 has no other
executions.

    check.py FILE...    ~exists: the final state must be impossible; exists: it must be possible. A data race fails too.
"""
import itertools
import re
import sys


class Event:
    """A read, a write, both (an exchange), or a fence."""

    def __init__(self, thread, order, place=None, reads=None, writes=None, fence=False):
        self.thread, self.order, self.place, self.fence = thread, order, place, fence
        self.reads, self.writes = reads, writes

    def is_atomic(self):
        return self.order is not None

    def releases(self):
        return self.order in ("release", "acq_rel", "seq_cst")

    def acquires(self):
        return self.order in ("acquire", "acq_rel", "seq_cst")

    def is_sc(self):
        return self.order == "seq_cst"


# ---- Reading files ----

STATEMENTS = [
    ("load", r"int (\w+) = atomic_load_explicit\((\w+), memory_order_(\w+)\)"),
    ("store", r"atomic_store_explicit\((\w+), (\d+), memory_order_(\w+)\)"),
    ("exchange", r"int (\w+) = atomic_exchange_explicit\((\w+), (\d+), memory_order_(\w+)\)"),
    ("fence", r"atomic_thread_fence\(memory_order_(\w+)\)"),
    ("read", r"int (\w+) = \*(\w+)"),
    ("write", r"\*(\w+) = (\d+)"),
]


def parse_block(text):
    """Statements; `if (register == number) { ... }` is a tuple with its own block."""
    block, at = [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        condition = re.match(r"if \((\w+) == (\d+)\) \{", text[at:])
        if condition:
            begin = at + condition.end()
            depth, end = 1, begin
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            block.append(("if", condition[1], int(condition[2]), parse_block(text[begin : end - 1])))
            at = end
            continue
        end = text.index(";", at)
        statement = text[at:end].strip()
        for kind, pattern in STATEMENTS:
            match = re.fullmatch(pattern, statement)
            if match:
                block.append((kind, *match.groups()))
                break
        else:
            raise SystemExit(f"cannot read the statement '{statement}'")
        at = end + 1
    return block


def parse(text):
    text = re.sub(r"\(\*.*?\*\)|//[^\n]*", "", text, flags=re.S)
    threads, at = [], 0
    for match in re.finditer(r"P\d+ ?\([^)]*\) \{\n(.*?)\n\}", text, flags=re.S):
        threads.append(parse_block(match[1]))
        at = match.end()
    final = re.search(r"(~?exists) \((.*)\)", text[at:], flags=re.S)
    wanted = [tuple(map(int_or_name, re.fullmatch(r"(?:(\d+):)?(\w+)=(\d+)", term.strip()).groups()))
              for term in final[2].split("/\\")]
    return threads, final[1] == "~exists", wanted


def int_or_name(text):
    return int(text) if text and text.isdigit() else text


# ---- Paths of one thread ----

def paths(block, thread, values, registers=None, events=None):
    """All events of a thread for every value that its reads may return, with its registers at the end."""
    registers, events = registers or {}, events or []
    if not block:
        yield events, registers
        return
    kind, *arguments = block[0]
    if kind == "if":
        name, number, inner = arguments
        rest = (inner if registers[name] == number else []) + block[1:]
        yield from paths(rest, thread, values, registers, events)
        return
    if kind == "fence":
        event = Event(thread, arguments[0], fence=True)
    elif kind == "store":
        event = Event(thread, arguments[2], arguments[0], writes=int(arguments[1]))
    elif kind == "write":
        event = Event(thread, None, arguments[0], writes=int(arguments[1]))
    else:
        order = {"load": 2, "exchange": 3}.get(kind)
        for value in values[arguments[1]]:
            event = Event(thread, arguments[order] if order else None, arguments[1], reads=value,
                          writes=int(arguments[2]) if kind == "exchange" else None)
            yield from paths(block[1:], thread, values, {**registers, arguments[0]: value}, events + [event])
        return
    yield from paths(block[1:], thread, values, registers, events + [event])


def written_values(threads):
    values = {}

    def visit(block):
        for kind, *arguments in block:
            if kind == "if":
                visit(arguments[2])
            elif kind in ("store", "write"):
                values.setdefault(arguments[0], {0}).add(int(arguments[1]))
            elif kind == "exchange":
                values.setdefault(arguments[1], {0}).add(int(arguments[2]))
            elif kind in ("load", "read"):
                values.setdefault(arguments[1], {0})

    for block in threads:
        visit(block)
    return values


# ---- Relations: sets of pairs ----

def join(*relations):
    result = relations[0]
    for relation in relations[1:]:
        after = {}
        for a, b in relation:
            after.setdefault(a, []).append(b)
        result = {(a, c) for a, b in result for c in after.get(b, ())}
    return result


def closure(relation):
    result = set(relation)
    while True:
        more = join(result, relation) | result
        if more == result:
            return result
        result = more


def is_cyclic(relation):
    return any(a == b for a, b in closure(relation))


# ---- Executions ----

class Execution:
    def __init__(self, events, order_in_threads, seen, visible):
        self.events = events
        self.sb, self.rf, self.mo = order_in_threads, seen, visible
        source = {b: a for a, b in self.rf}
        same = {(e, e) for e in events}
        self.rb = {(r, w) for r, first in source.items() for a, w in self.mo if a == first and w != r}
        self.eco = closure(self.rf | self.mo | self.rb)
        self.hb = closure(self.sb | self.synchronised(same))

    def synchronised(self, same):
        only = lambda test: {(e, e) for e in self.events if test(e)}
        writes = only(lambda e: e.writes is not None)
        atomic_writes = only(lambda e: e.writes is not None and e.is_atomic())
        same_place = {(a, b) for a, b in self.sb if a.place and a.place == b.place}
        updates = only(lambda e: e.writes is not None and e.reads is not None)
        sequence = join(writes, same_place | same, atomic_writes, closure(join(self.rf, updates)) | same)
        fences = only(lambda e: e.fence)
        before = join(only(Event.releases), join(fences, self.sb) | same, sequence)
        after = join(only(lambda e: e.reads is not None and e.is_atomic()), join(self.sb, fences) | same,
                     only(Event.acquires))
        return join(before, self.rf, after)

    def is_allowed(self):
        same = {(e, e) for e in self.events}
        if any(a == b for a, b in join(self.hb, self.eco | same)):
            return False
        if any(a == b for a, b in join(self.rb, self.mo)):  # nothing between the two halves of an exchange
            return False
        return not is_cyclic(self.sb | self.rf) and not self.is_sc_violated(same)

    def is_sc_violated(self, same):
        sc = {(e, e) for e in self.events if e.is_sc() and not e.fence}
        fences = {(e, e) for e in self.events if e.is_sc() and e.fence}
        apart = {(a, b) for a, b in self.sb if not a.place or a.place != b.place}
        at_place = {(a, b) for a, b in self.hb if a.place and a.place == b.place}
        scb = self.sb | join(apart, self.hb, apart) | at_place | self.mo | self.rb
        maybe = self.hb | same
        base = join(sc | join(fences, maybe), scb, sc | join(maybe, fences))
        between = join(fences, self.hb | join(self.hb, self.eco, self.hb), fences)
        return is_cyclic(base | between)

    def has_race(self):
        for a, b in itertools.combinations(self.events, 2):
            conflict = a.place and a.place == b.place and (a.writes is not None or b.writes is not None)
            if conflict and not (a.is_atomic() and b.is_atomic()) and (a, b) not in self.hb and (b, a) not in self.hb:
                return True
        return False


def sources(events):
    """Every choice of the write that each read sees."""
    reads = [e for e in events if e.reads is not None]
    choices = [[w for w in events if w.writes == r.reads and w.place == r.place and w is not r] for r in reads]
    for choice in itertools.product(*choices):
        yield set(zip(choice, reads))


def visibilities(events, places):
    """Every order of the writes of each place; initial values come first."""
    each = []
    for place in places:
        first = [e for e in events if e.place == place and e.thread is None]
        rest = [e for e in events if e.place == place and e.writes is not None and e.thread is not None]
        each.append([first + list(p) for p in itertools.permutations(rest)])
    for orders in itertools.product(*each):
        yield {pair for order in orders for pair in itertools.combinations(order, 2)}


def executions(threads):
    """Allowed executions, each with the registers of all threads."""
    values = written_values(threads)
    each = [list(paths(block, number, values)) for number, block in enumerate(threads)]
    for combination in itertools.product(*each):
        first = [Event(None, "relaxed", place, writes=0) for place in values]
        rest = [e for events, _ in combination for e in events]
        sb = {(a, b) for a in first for b in rest}
        for events, _ in combination:
            sb |= set(itertools.combinations(events, 2))
        for rf in sources(first + rest):
            for mo in visibilities(first + rest, values):
                execution = Execution(first + rest, sb, rf, mo)
                if execution.is_allowed():
                    yield execution, [registers for _, registers in combination]


def final_value(execution, place):
    last = [e for e in execution.events if e.place == place and e.writes is not None]
    return next(e.writes for e in last if not any(a is e for a, _ in execution.mo if a.place == place))


def is_reached(execution, registers, wanted):
    return all((registers[thread].get(name) if thread is not None else final_value(execution, name)) == value
               for thread, name, value in wanted)


def check(path):
    with open(path, encoding="utf-8") as file:
        threads, forbidden, wanted = parse(file.read())
    count, reached, races = 0, 0, 0
    for execution, registers in executions(threads):
        count += 1
        reached += is_reached(execution, registers, wanted)
        races += execution.has_race()
    passed = count and not races and (reached == 0 if forbidden else reached > 0)
    print(f"{'ok' if passed else 'FAILED'} {path.rsplit('/', 1)[-1]}: {count} executions, {races} with a race, "
          f"{reached} reach the state that must be {'impossible' if forbidden else 'possible'}")
    return passed


if __name__ == "__main__":
    results = [check(path) for path in sys.argv[1:]]
    sys.exit(0 if results and all(results) else 1)
