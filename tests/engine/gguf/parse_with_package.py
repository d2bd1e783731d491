"""Reads a GGUF file with the public Python package "gguf" and prints its tensors and texts as parse_gguf.py does.

Exit code 77 where the package is not installed.
"""
import hashlib, sys

try:
    from gguf import GGUFReader, GGUFValueType
except ImportError:
    print('the Python package gguf is not installed')
    sys.exit(77)

md5 = lambda raw: hashlib.md5(raw).hexdigest()
reader = GGUFReader(sys.argv[1])
for name, field in reader.fields.items():
    if name.startswith('GGUF.'): continue
    kinds = [k for k in field.types if k != GGUFValueType.ARRAY]
    count = len(field.data) if field.types[0] == GGUFValueType.ARRAY else -1
    kind = int(kinds[-1]) if kinds else '?'
    parts = [bytes(field.parts[i]) for i in field.data]
    print('key', name, kind, count, md5(b'\n'.join(parts) if kind == 8 else b''.join(parts)))
for tensor in reader.tensors:
    shape = 'x'.join(str(int(n)) for n in tensor.shape)
    print('tensor', tensor.name, int(tensor.tensor_type), shape, int(tensor.data_offset), md5(tensor.data.tobytes()))
