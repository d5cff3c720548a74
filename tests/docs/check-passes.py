#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of passes in docs/architecture.md names the passes that run, in their order."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
header = (root / "src/simt/passes.h").read_text()
page = (root / "docs/architecture.md").read_text()
listed = header[header.index("#define IGI_SIMT_PASS_LIST"):header.index("typedef struct igi_simt_module")]
run = re.findall(r"X\((\w+), IGI_STAGE", listed)
table = page[page.index("| pass | does |"):]
shown = re.findall(r"^\| (\w+) \|", table[:table.index("\n\n")], re.M)[1:]
if not run or run != shown:
    sys.exit(f"passes.h runs {run}\ndocs/architecture.md shows {shown}")
