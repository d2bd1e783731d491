"""Reads a GGUF file with nothing but struct, and prints one line a key and one a tensor, for comparison.

key NAME TYPE COUNT FIRST MD5      TYPE: number, of the elements for a list; COUNT: -1 for a scalar;
                                   FIRST: the first number; MD5: of the bytes (of a list of texts: of the texts)
tensor NAME TYPE NE0xNE1x.. OFFSET MD5     OFFSET: from the start of the file
"""
import hashlib, struct, sys

data = open(sys.argv[1], 'rb').read()
at = 0
NUMBERS = {0: 'B', 1: 'b', 2: 'H', 3: 'h', 4: 'I', 5: 'i', 6: 'f', 7: 'B', 10: 'Q', 11: 'q', 12: 'd'}
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84), 11: (256, 110),
          12: (256, 144), 13: (256, 176), 14: (256, 210), 20: (32, 18), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4),
          27: (1, 8), 28: (1, 8), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18), 42: (64, 18)}

def take(fmt):
    global at
    value, = struct.unpack_from('<' + fmt, data, at)
    at += struct.calcsize('<' + fmt)
    return value

def text():
    global at
    n = take('Q')
    at += n
    return data[at - n:at]

def first(fmt, raw):
    if not raw: return '-'
    value, = struct.unpack_from('<' + fmt, raw)
    return '%.17g' % value if fmt in 'fd' else str(value)

md5 = lambda raw: hashlib.md5(raw).hexdigest()
magic, version, n_tensors, n_keys = data[:4].decode(), *struct.unpack_from('<IQQ', data, 4)
at = 24
print('file', magic, version, len(data))
alignment = 32
for _ in range(n_keys):
    name, kind, count = text().decode(), take('i'), -1
    if kind == 9: kind, count = take('i'), take('Q')
    if kind == 8:
        texts = [text() for _ in range(max(count, 1) if count else 0)]
        print('key', name, kind, count, '-', md5(b'\n'.join(texts)))
        continue
    n = struct.calcsize('<' + NUMBERS[kind]) * (1 if count < 0 else count)
    raw = data[at:at + n]
    at += n
    if name == 'general.alignment': alignment, = struct.unpack('<I', raw)
    print('key', name, kind, count, first(NUMBERS[kind], raw), md5(raw))
tensors = []
for _ in range(n_tensors):
    name, dims = text().decode(), take('I')
    ne = [take('Q') for _ in range(dims)]
    tensors.append((name, ne, take('i'), take('Q')))
start = at + -at % alignment if tensors else at
assert not any(data[at:start]), 'padding of the header is not zero'
end = start
for name, ne, kind, offset in tensors:
    values, (elements, size) = 1, BLOCKS[kind]
    for n in ne: values *= n
    n = values // elements * size
    assert (start + offset) % alignment == 0 and start + offset == end, name
    end = start + offset + n + -n % alignment
    print('tensor', name, kind, 'x'.join(map(str, ne)), start + offset, md5(data[start + offset:start + offset + n]))
    if '--strict' in sys.argv: assert not any(data[start + offset + n:end]), 'padding is not zero'
assert end <= len(data) + alignment and ('--strict' not in sys.argv or end == len(data)), 'the file has another length'
