#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the splitting of text into words needs: classes of code points, and letters without case and accents.

    scripts/make-unicode.py classes > src/llm/unicode-tables.c
    scripts/make-unicode.py folds > src/llm/unicode-folds.c

Takes the tables of the package `unicodedata2` where it is installed (the committed files: 16.0, which is what the
published tokenizers are run with), or else those of Python. Lower case is always Python's (the committed file: 3.11, with
Unicode 14.0).
"""
import sys

try:
    import unicodedata2 as unicodedata
except ImportError:
    import unicodedata

SPACES = {*range(0x09, 0x0E), 0x85}
CLASSES = {'Lu': 'UPPER', 'Lt': 'UPPER', 'Ll': 'LOWER', 'Lm': 'UNCASED', 'Lo': 'UNCASED', 'M': 'MARK', 'N': 'NUMBER',
           'P': 'PUNCTUATION', 'S': 'SYMBOL', 'Z': 'SPACE'}
BITS = {name: 1 << bit for bit, name in enumerate(
    ('UPPER', 'LOWER', 'UNCASED', 'MARK', 'NUMBER', 'PUNCTUATION', 'SYMBOL', 'SPACE'))}


def class_of(code):
    if code in SPACES:
        return BITS['SPACE']
    category = unicodedata.category(chr(code))
    name = CLASSES.get(category) or CLASSES.get(category[0])
    return BITS[name] if name else 0


def rows(numbers, form, per_row):
    for start in range(0, len(numbers), per_row):
        yield '    ' + ' '.join(form % number for number in numbers[start:start + per_row])


def print_head():
    print('// SPDX-License-Identifier: Apache-2.0')
    print(f'// Written by scripts/make-unicode.py from Unicode {unicodedata.unidata_version}.')
    print('// clang-format off')
    print('#include "llm/unicode.h"\n')


def print_classes():
    classes = [class_of(code) for code in range(0x110000)]
    starts = [code for code in range(0x110000) if code == 0 or classes[code] != classes[code - 1]]
    # A page is 256 code points; the search for any of them begins at the range that contains the first.
    pages, at = [], 0
    for page in range(0x1100 + 1):
        while at + 1 < len(starts) and starts[at + 1] <= page << 8:
            at += 1
        pages.append(at)
    print_head()
    print(f'const uint8_t igi_llm_ascii_classes[128] = {{')
    print('\n'.join(rows(classes[:128], '%d,', 32)), '};\n', sep='\n')
    print('// The first code point of each range << 8 | class of all in it.')
    print(f'const uint32_t igi_llm_char_ranges[{len(starts)}] = {{')
    print('\n'.join(rows([code << 8 | classes[code] for code in starts], '0x%x,', 11)), '};\n', sep='\n')
    print(f'const uint16_t igi_llm_char_pages[{len(pages)}] = {{')
    print('\n'.join(rows(pages, '%d,', 20)), '};', sep='\n')



def ranges_of(categories):
    """(first code << 8 | number of following ones)"""
    found = []
    for code in range(0x110000):
        if unicodedata.category(chr(code)) not in categories:
            continue
        if found and found[-1][1] == code - 1 and code - found[-1][0] < 256:
            found[-1][1] = code
        else:
            found.append([code, code])
    return [first << 8 | last - first for first, last in found]


def print_ranges(name, categories):
    numbers = ranges_of(categories)
    print(f'const uint32_t igi_llm_{name}[] = {{')
    print('\n'.join(rows(numbers, '0x%x,', 11)), '};', sep='\n')
    print(f'const uint32_t igi_llm_{name}_count = {len(numbers)};\n')


def bases():
    """What canonical decompositions contain besides accents. Those of Korean syllables are computed instead."""
    for code in range(0x110000):
        character = chr(code)
        if 0xAC00 <= code < 0xAC00 + 11172 or unicodedata.category(character) in ('Mn', 'Cs'):
            continue
        base = [c for c in unicodedata.normalize('NFD', character) if unicodedata.category(c) != 'Mn']
        assert 0 < len(base) <= 3
        if base != [character]:
            yield code, [ord(c) for c in base]


def lower_runs():
    """(first, last, step, what to add); U+0130 becomes an i."""
    runs = []
    for code in range(0x110000):
        distance = ord(chr(code).lower()[0]) - code
        if not distance:
            continue
        if runs:
            first, last, step, added = runs[-1]
            if distance == added and (code - last == step or (first == last and code - last == 2)):
                runs[-1] = first, code, code - last, added
                continue
        runs.append((code, code, 1, distance))
    return runs


def print_folds():
    print_head()
    print_ranges('accents', ('Mn',))
    print_ranges('controls', ('Cc', 'Cf'))
    entries = ['{0x%x,{%s}},' % (code, ','.join('0x%x' % c for c in base)) for code, base in bases()]
    print('const igi_llm_base igi_llm_bases[] = {')
    print('\n'.join(rows(entries, '%s', 6)), '};', sep='\n')
    print(f'const uint32_t igi_llm_base_count = {len(entries)};\n')
    entries = ['{0x%x,0x%x,%d,%d},' % run for run in lower_runs()]
    print('const igi_llm_case_run igi_llm_case_runs[] = {')
    print('\n'.join(rows(entries, '%s', 5)), '};', sep='\n')
    print(f'const uint32_t igi_llm_case_run_count = {len(entries)};')


{'classes': print_classes, 'folds': print_folds}[sys.argv[1]]()
