"""Makes the seeds of fuzz_gguf: small files that together reach every part of the reader. Run it from this folder."""
import os, struct

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'corpus', 'gguf')
text = lambda s: struct.pack('<Q', len(s)) + s.encode()
key = lambda name, kind, value: text(name) + struct.pack('<i', kind) + value
array = lambda name, kind, count, values: key(name, 9, struct.pack('<iQ', kind, count) + values)
tensor = lambda name, ne, kind, offset: text(name) + struct.pack('<I%dQiQ' % len(ne), len(ne), *ne, kind, offset)

def save(name, keys, tensors=(), data=b'', magic=b'GGUF', version=3, alignment=32):
    head = magic + struct.pack('<IQQ', version, len(tensors), len(keys)) + b''.join(keys) + b''.join(tensors)
    if tensors: head += bytes(-len(head) % alignment)
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, name), 'wb') as f: f.write(head + data)

arch = key('general.architecture', 8, text('llama'))
save('empty', [])
save('version2', [arch], version=2)
save('pwri', [arch, key('powerinfer.sparse_threshold', 6, struct.pack('<f', 0.5))], magic=b'PWRI')
save('scalars', [key('k%d' % i, kind, struct.pack('<' + f, v)) for i, (kind, f, v) in enumerate(
    [(0, 'B', 200), (1, 'b', -1), (2, 'H', 60000), (3, 'h', -3), (4, 'I', 1 << 31), (5, 'i', -5), (6, 'f', 1.5), (7, 'B', 1),
     (10, 'Q', 1 << 63), (11, 'q', -1), (12, 'd', 1e300)])])
save('lists', [array('tokens', 8, 3, text('a') + text('') + text('token')), array('scores', 6, 2, struct.pack('<2f', 1, 2)),
               array('flags', 7, 3, b'\0\1\1'), array('none', 8, 0, b''), array('layers', 5, 2, struct.pack('<2i', 1, 2))])
save('tensors', [arch], [tensor('a', [8], 0, 0), tensor('blk.0.ffn_up.weight', [32, 2], 8, 32), tensor('s', [], 24, 128)], bytes(160))
save('alignment', [key('general.alignment', 4, struct.pack('<I', 64))], [tensor('a', [2, 2, 1, 2], 1, 0), tensor('b', [256], 12, 64)],
     bytes(64 + 144), alignment=64)
save('split', [key('split.no', 2, b'\0\0'), key('split.count', 2, b'\2\0'), key('split.tensors.count', 5, b'\2\0\0\0')],
     [tensor('a', [4], 26, 0)], bytes(32))
save('old_expert', [arch], [tensor('blk.0.ffn_gate.3.weight', [8], 0, 0)], bytes(32))
save('codebook', [arch], [tensor('a', [256], 16, 0)], bytes(96))
save('overlap', [arch], [tensor('a', [16], 0, 0), tensor('b', [8], 0, 32)], bytes(64))
save('huge', [arch], [tensor('a', [1 << 31, 1 << 31], 0, 0), tensor('b', [1 << 40], 24, 1 << 62)])
