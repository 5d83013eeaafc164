"""Writes the encoder of the tests: two layers with random weights, of the same interface as the real one. Texts that share words are near.

Usage: pack-tiny-encoder.py tokenizer.json FOLDER   (needs numpy and onnx; then scripts/pack-tokenizer.ts and scripts/pack-manifest.ts)
"""
import json, struct, sys
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh

source, folder = sys.argv[1:3]
WIDTH, DIM, HEADS, LAYERS, POSITIONS, PIECES = 32, 384, 2, 2, 512, 5000
chance = np.random.default_rng(7)
vocab = json.load(open(source, encoding='utf8'))['model']['vocab']
special, rest = vocab[:4], vocab[4:-1]
wanted = sorted(rest, key=lambda piece: -piece[1])[:PIECES]
letters = [piece for piece in rest if len(piece[0]) == 1 and piece[0] < '\u0250']
chosen = special + sorted({piece[0]: piece for piece in wanted + letters}.values(), key=lambda piece: -piece[1])
json.dump({'model': {'vocab': chosen}}, open(f'{folder}/tokenizer.json', 'w', encoding='utf8'))

nodes, init = [], []
def I(name, array):
    init.append(nh.from_array(np.ascontiguousarray(array), name)); return name
def N(op, inputs, out, **attributes):
    nodes.append(h.make_node(op, inputs, [out], name=out, **attributes)); return out
def random(*shape, scale=1.0):
    return (chance.standard_normal(shape) * scale).astype(np.float32)

# Frequent pieces say little about what a text is about.
weight = np.array([min(1, (-score / 11) ** 3) for _, score in chosen], np.float32)
weight[[i for i, (piece, _) in enumerate(chosen) if piece in ('▁query', '▁passage', ':')]] = 0.05
weight[:4] = 0.05
table = random(len(chosen), WIDTH) * weight[:, None]
scale = np.float32(np.abs(table).max() / 127)
I('table', np.round(table / scale).astype(np.int8)); I('table_scale', scale)
N('Gather', ['table', 'input_ids'], 'picked', axis=0); N('Cast', ['picked'], 'floats', to=T.FLOAT); N('Mul', ['floats', 'table_scale'], 'pieces')
N('Shape', ['input_ids'], 'shape'); N('Slice', ['shape', I('i1', np.array([1], np.int64)), I('i2', np.array([2], np.int64))], 'length')
N('Slice', [I('positions', random(POSITIONS, WIDTH, scale=0.02)), I('i0', np.array([0], np.int64)), 'length'], 'places')
x = N('Add', ['pieces', 'places'], 'x')
N('Cast', ['attention_mask'], 'mask', to=T.FLOAT)
I('heads', np.array([0, 0, HEADS, WIDTH // HEADS], np.int64)); I('joined', np.array([0, 0, WIDTH], np.int64)); I('sharpness', np.float32(0.2))
for layer in range(LAYERS):
    name = f'l{layer}.'
    for part, order in (('q', [0, 2, 1, 3]), ('k', [0, 2, 3, 1]), ('v', [0, 2, 1, 3])):
        N('MatMul', [x, I(name + part, random(WIDTH, WIDTH, scale=0.1))], name + part + 'm')
        N('Reshape', [name + part + 'm', 'heads'], name + part + 'r'); N('Transpose', [name + part + 'r'], name + part + 't', perm=order)
    N('MatMul', [name + 'qt', name + 'kt'], name + 'qk'); N('Mul', [name + 'qk', 'sharpness'], name + 's'); N('Softmax', [name + 's'], name + 'p', axis=-1)
    N('MatMul', [name + 'p', name + 'vt'], name + 'c'); N('Transpose', [name + 'c'], name + 'ct', perm=[0, 2, 1, 3]); N('Reshape', [name + 'ct', 'joined'], name + 'cr')
    x = N('Add', [name + 'cr', x], name + 'x')
I('wide', random(WIDTH, DIM, scale=WIDTH ** -0.5))
N('MatMul', [x, 'wide'], 'token_states')
N('Unsqueeze', ['mask', I('axis2', np.array([2], np.int64))], 'mask3'); N('Mul', ['token_states', 'mask3'], 'masked')
N('ReduceSum', ['masked', I('axis1', np.array([1], np.int64))], 'sum', keepdims=0)
I('last', np.array([-1], np.int64)); I('least', np.float32(1e-6))
N('ReduceL2', ['sum', 'last'], 'n1', keepdims=1); N('Max', ['n1', 'least'], 'n1s'); N('Div', ['sum', 'n1s'], 'unit')
# Like those of the real encoder, all vectors lie in one direction: unrelated texts have a cosine of about .75.
common = random(DIM); common *= np.float32(np.sqrt(2.5)) / np.linalg.norm(common)
N('Add', ['unit', I('common', common)], 'moved'); N('ReduceL2', ['moved', 'last'], 'n2', keepdims=1); N('Div', ['moved', 'n2'], 'sentence_embedding')
ids = lambda name: h.make_tensor_value_info(name, T.INT64, ['batch', 'tokens'])
outs = [h.make_tensor_value_info('sentence_embedding', T.FLOAT, ['batch', DIM]), h.make_tensor_value_info('token_states', T.FLOAT, ['batch', 'tokens', DIM])]
model = h.make_model(h.make_graph(nodes, 'tiny', [ids('input_ids'), ids('attention_mask')], outs, init), opset_imports=[h.make_opsetid('', 21)])
model.ir_version = 10
onnx.save(model, f'{folder}/encoder.onnx')

# Names by their looks alone (src/compute/text/name-tags.ts): words with a capital, those that begin a sentence only with another behind them.
TAGS, SHAPES = 9, 8
bias = np.full(TAGS, -9, np.float32); bias[[0, 1, 2]] = (0, -4, -4)
moves = np.zeros((TAGS, TAGS), np.float32)
for tag in range(2, TAGS, 2):
    moves[[other for other in range(TAGS) if other not in (tag - 1, tag)], tag] = -1e4
shapes = np.zeros((TAGS, SHAPES), np.float32)
shapes[1, [0, 3, 4]] = (3.5, 1.5, -1.2); shapes[2, [0, 4, 6]] = (6.5, -2.5, -3.8)
with open(f'{folder}/names.bin', 'wb') as out:
    out.write(struct.pack('<4I', 0x544e4252, 1, DIM, 0))
    for part in (bias, moves, shapes, np.zeros((TAGS, DIM), np.float32)):
        out.write(part.astype('<f4').tobytes())
