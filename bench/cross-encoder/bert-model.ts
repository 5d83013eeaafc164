/**
 * Cross-encoders of BERT's shape with random weights, in the layout of a hub: what a run costs depends on their size, not on what they learned. Two
 * precisions: `fp32`, and `q8`, whose products are of bytes (dynamic quantization: weights of int8, activations quantized in each run).
 */
import {
  type OnnxGraph,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
  onnxModel,
} from '../../test/fixtures/onnx-model.ts';
import { tokens, writeModel } from '../../test/fixtures/tiny-transformer.ts';
import { randomStream } from '../workload.ts';

export interface BertShape {
  layers: number;
  /** Numbers of a token's vector, a multiple of 32: as many heads as there are 32s. */
  width: number;
  /** Whole words that it knows; others are one unknown token. */
  words: readonly string[];
}

type Precision = 'fp32' | 'q8';

const maxTokens = 512;
const headWidth = 32;
/** Of the network between two layers' attention. */
const widening = 4;
const masked = -10_000;

/** Write both precisions into a folder. */
export function writeCrossEncoder(dir: string, shape: BertShape, seed: number): void {
  const vocabulary = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...shape.words];
  const graphOf = (precision: Precision) => new BertGraph(shape, vocabulary.length, precision, seed).graph();
  writeModel(dir, {
    files: { model: onnxModel(graphOf('fp32')), model_quantized: onnxModel(graphOf('q8')) },
    config: {
      architectures: ['BertForSequenceClassification'],
      ...{ num_labels: 1, vocab_size: vocabulary.length, hidden_size: shape.width, num_hidden_layers: shape.layers },
    },
    vocabulary,
    maxTokens,
  });
}

class BertGraph {
  readonly #nodes: OnnxNode[] = [];
  readonly #tensors: OnnxTensor[] = [];
  readonly #shape: BertShape;
  readonly #tokens: number;
  readonly #precision: Precision;
  readonly #seed: number;

  constructor(shape: BertShape, knownTokens: number, precision: Precision, seed: number) {
    this.#shape = shape;
    this.#tokens = knownTokens;
    this.#precision = precision;
    this.#seed = seed;
  }

  graph(): OnnxGraph {
    const { layers, width } = this.#shape;
    this.#constants();
    let hidden = this.#embeddings();
    for (let layer = 0; layer < layers; layer++) hidden = this.#layer(`layer ${layer}`, hidden);
    const first = this.#op('Gather', [hidden, 'zero'], 'first', { axis: 1 });
    const pooled = this.#op('Tanh', [this.#dense('pooler', first, width, width)], 'pooled');
    this.#op('Identity', [this.#dense('head', pooled, width, 1)], 'logits');
    const output: OnnxValue = { name: 'logits', type: 'float32', shape: ['b', 1] };
    return {
      nodes: this.#nodes,
      tensors: this.#tensors,
      inputs: [tokens('input_ids'), tokens('attention_mask'), tokens('token_type_ids')],
      outputs: [output],
    };
  }

  #constants(): void {
    const { width } = this.#shape;
    const heads = width / headWidth;
    this.#int64('zero', [], 0n);
    this.#int64('one', [], 1n);
    this.#int64('start', [1], 0n);
    this.#int64('last axis', [1], 0n);
    this.#int64('mask axes', [2], 1n, 2n);
    this.#int64('to heads', [4], 0n, 0n, BigInt(heads), BigInt(headWidth));
    this.#int64('from heads', [3], 0n, 0n, BigInt(width));
    this.#float('scale', 1 / Math.sqrt(headWidth));
    this.#float('masked', masked);
    this.#float('unit', 1);
    this.#float('half', 0.5);
    this.#float('root of two', Math.SQRT2);
  }

  #embeddings(): string {
    const { width } = this.#shape;
    this.#random('word table', [this.#tokens, width]);
    this.#random('type table', [2, width]);
    this.#random('place table', [maxTokens, width]);
    const words = this.#op('Gather', ['word table', 'input_ids'], 'words');
    const types = this.#op('Gather', ['type table', 'token_type_ids'], 'types');
    const shape = this.#op('Shape', ['input_ids'], 'shape');
    const length = this.#op('Gather', [shape, 'one'], 'length');
    const end = this.#op('Unsqueeze', [length, 'last axis'], 'end');
    const places = this.#op('Slice', ['place table', 'start', end], 'places');
    const sum = this.#op('Add', [this.#op('Add', [words, types], 'typed'), places], 'placed');
    const mask = this.#op('Cast', ['attention_mask'], 'mask', { to: 1 });
    const absent = this.#op('Sub', ['unit', mask], 'absent');
    const bias = this.#op('Mul', [absent, 'masked'], 'bias');
    this.#op('Unsqueeze', [bias, 'mask axes'], 'attention bias');
    return this.#norm('embedding', sum);
  }

  #layer(name: string, input: string): string {
    const { width } = this.#shape;
    const heads = (part: string, perm: number[]) => {
      const made = this.#dense(`${name} ${part}`, input, width, width);
      const split = this.#op('Reshape', [made, 'to heads'], `${name} ${part} split`);
      return this.#op('Transpose', [split], `${name} ${part} heads`, { perm });
    };
    const [query, key, value] = [
      heads('query', [0, 2, 1, 3]),
      heads('key', [0, 2, 3, 1]),
      heads('value', [0, 2, 1, 3]),
    ];
    const raw = this.#op('MatMul', [query, key], `${name} raw`);
    const scaled = this.#op('Mul', [raw, 'scale'], `${name} scaled`);
    const biased = this.#op('Add', [scaled, 'attention bias'], `${name} biased`);
    const shares = this.#op('Softmax', [biased], `${name} shares`, { axis: -1 });
    const mixed = this.#op('MatMul', [shares, value], `${name} mixed`);
    const back = this.#op('Transpose', [mixed], `${name} back`, { perm: [0, 2, 1, 3] });
    const joined = this.#op('Reshape', [back, 'from heads'], `${name} joined`);
    const attended = this.#dense(`${name} attention out`, joined, width, width);
    const middle = this.#norm(`${name} attention`, this.#op('Add', [input, attended], `${name} residual`));
    const wide = this.#gelu(name, this.#dense(`${name} in`, middle, width, widening * width));
    const narrow = this.#dense(`${name} out`, wide, widening * width, width);
    return this.#norm(name, this.#op('Add', [middle, narrow], `${name} second residual`));
  }

  #gelu(name: string, input: string): string {
    const divided = this.#op('Div', [input, 'root of two'], `${name} gelu divided`);
    const erf = this.#op('Erf', [divided], `${name} gelu erf`);
    const more = this.#op('Add', [erf, 'unit'], `${name} gelu more`);
    const product = this.#op('Mul', [input, more], `${name} gelu product`);
    return this.#op('Mul', [product, 'half'], `${name} gelu`);
  }

  #norm(name: string, input: string): string {
    const { width } = this.#shape;
    const [gain, bias] = [`${name} norm gain`, `${name} norm bias`];
    this.#tensors.push({ name: gain, type: 'float32', dims: [width], data: new Float32Array(width).fill(1) });
    this.#tensors.push({ name: bias, type: 'float32', dims: [width], data: new Float32Array(width) });
    return this.#op('LayerNormalization', [input, gain, bias], `${name} norm`, { axis: -1, epsilon: { float: 1e-12 } });
  }

  /** input × weights + bias. */
  #dense(name: string, input: string, from: number, to: number): string {
    const bias = `${name} bias`;
    this.#random(bias, [to]);
    const weights = this.#gaussians(`${name} weights`, from * to);
    const product =
      this.#precision === 'fp32'
        ? this.#floatProduct(name, input, weights, [from, to])
        : this.#byteProduct(name, input, weights, [from, to]);
    return this.#op('Add', [product, bias], `${name} sum`);
  }

  #floatProduct(name: string, input: string, data: Float32Array, dims: readonly number[]): string {
    this.#tensors.push({ name: `${name} weights`, type: 'float32', dims, data });
    return this.#op('MatMul', [input, `${name} weights`], `${name} product`);
  }

  #byteProduct(name: string, input: string, weights: Float32Array, dims: readonly number[]): string {
    let most = 0;
    for (const weight of weights) most = Math.max(most, Math.abs(weight));
    const scale = most / 127;
    const data = Int8Array.from(weights, (weight) => Math.round(weight / scale));
    this.#tensors.push({ name: `${name} bytes`, type: 'int8', dims, data });
    this.#float(`${name} weight scale`, scale);
    const [bytes, inputScale, inputZero] = ['bytes', 'scale', 'zero'].map((part) => `${name} input ${part}`);
    this.#nodes.push({ op: 'DynamicQuantizeLinear', inputs: [input], outputs: [bytes, inputScale, inputZero] });
    const whole = this.#op('MatMulInteger', [bytes, `${name} bytes`, inputZero], `${name} whole`);
    const cast = this.#op('Cast', [whole], `${name} cast`, { to: 1 });
    const factor = this.#op('Mul', [inputScale, `${name} weight scale`], `${name} factor`);
    return this.#op('Mul', [cast, factor], `${name} product`);
  }

  #op(op: string, inputs: readonly string[], output: string, attributes: OnnxNode['attributes'] = {}): string {
    this.#nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  #random(name: string, dims: readonly number[]): void {
    const data = this.#gaussians(
      name,
      dims.reduce((product, each) => product * each, 1),
    );
    this.#tensors.push({ name, type: 'float32', dims, data });
  }

  /** The same for a name in every precision: N(0, .04²), from sums of four uniform numbers. */
  #gaussians(name: string, count: number): Float32Array {
    let kind = 0;
    for (let at = 0; at < name.length; at++) kind = (Math.imul(kind, 31) + name.charCodeAt(at)) & 0x7fffffff;
    const random = randomStream(this.#seed, kind, count);
    const data = new Float32Array(count);
    for (let at = 0; at < count; at++) data[at] = 0.07 * (random() + random() + random() + random() - 2);
    return data;
  }

  #float(name: string, value: number): void {
    this.#tensors.push({ name, type: 'float32', dims: [], data: Float32Array.of(value) });
  }

  #int64(name: string, dims: readonly number[], ...values: bigint[]): void {
    this.#tensors.push({ name, type: 'int64', dims, data: BigInt64Array.from(values) });
  }
}
