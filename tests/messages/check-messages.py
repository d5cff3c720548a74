#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public call that can fail and takes no ig_error must be called in the test of messages: HEADERS... TEST."""
import re
import sys

# Called through lists of their names (IG_UNARY_LIST and so on), or the functions that return the message.
EXEMPT = {"ig_last_error", "ig_tensor_"}


def fallible_calls(text):
    text = re.sub(r"//[^\n]*", "", text)
    for match in re.finditer(r"\big_status\s+(ig_\w+)\s*\(([^;]*)\)\s*;", text):
        if "ig_error *" not in match[2] and match[1] not in EXEMPT:
            yield match[1]


def main(headers, test):
    tested = open(test).read()
    tested += "".join("ig_tensor_" + name for name in re.findall(r'OP\("\w+",\s*(\w+\()', tested))
    missing = [call for header in headers for call in fallible_calls(open(header).read()) if call + "(" not in tested]
    for call in missing:
        print(f"{call} can fail, but {test} does not look at its message")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:-1], sys.argv[-1]))
