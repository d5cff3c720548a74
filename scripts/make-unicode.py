#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/llm/unicode-tables.c: classes of code points, as the splitting of text into words needs them.

    scripts/make-unicode.py > src/llm/unicode-tables.c

Takes the tables of the package `unicodedata2` where it is installed (the committed file: 16.0, which is what the
published tokenizers are run with), or else those of Python.
"""
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


def main():
    classes = [class_of(code) for code in range(0x110000)]
    starts = [code for code in range(0x110000) if code == 0 or classes[code] != classes[code - 1]]
    # A page is 256 code points; the search for any of them begins at the range that contains the first.
    pages, at = [], 0
    for page in range(0x1100 + 1):
        while at + 1 < len(starts) and starts[at + 1] <= page << 8:
            at += 1
        pages.append(at)
    print('// SPDX-License-Identifier: Apache-2.0')
    print(f'// Written by scripts/make-unicode.py from Unicode {unicodedata.unidata_version}.')
    print('// clang-format off')
    print('#include "llm/unicode.h"\n')
    print(f'const uint8_t igi_llm_ascii_classes[128] = {{')
    print('\n'.join(rows(classes[:128], '%d,', 32)), '};\n', sep='\n')
    print('// The first code point of each range << 8 | class of all in it.')
    print(f'const uint32_t igi_llm_char_ranges[{len(starts)}] = {{')
    print('\n'.join(rows([code << 8 | classes[code] for code in starts], '0x%x,', 11)), '};\n', sep='\n')
    print(f'const uint16_t igi_llm_char_pages[{len(pages)}] = {{')
    print('\n'.join(rows(pages, '%d,', 20)), '};', sep='\n')


main()
