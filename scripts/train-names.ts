/**
 * Trains `names.bin`: a linear layer over the encoder's states and a table of transitions (src/compute/text/name-tags.ts), as a conditional
 * random field, with Adam, from texts in which people marked names. Prints F1 of collections that it did not learn from, as JSON. Where the collections come
 * from and lie: models/README.md.
 * Usage: node --import ./scripts/tsx-in-threads.mjs scripts/train-names.ts FOLDER STATES OUT [--without PART] [--radius 1] [--with FILE]
 * STATES: a file for the states of all texts, written where it is missing. PART: collections whose name contains it are not learnt.
 * FILE: earlier weights, of which six tenths are mixed with four of the new ones.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { windowsOf, withoutShouting } from '../src/compute/embedding/encoder-windows.ts';
import { openTokenizer, type TextPieces } from '../src/compute/embedding/unigram-tokenizer.ts';
import {
  NAMES_MAGIC,
  NAMES_VERSION,
  nameTypes,
  openNameTagger,
  SHAPES,
  shapeOf,
  TAGS,
} from '../src/compute/text/name-tags.ts';
import { namesOfPage } from '../src/compute/text/page-names.ts';
import { encoderDir } from '../src/encoder/encoder-files.ts';
import { openOnnxSession } from '../src/encoder/onnx-session.ts';
import { type MarkedText, readCollections } from './names/marked-texts.ts';

const DIM = 384;
const MAX_WINDOWS = 64;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    without: { type: 'string' },
    radius: { type: 'string', default: '1' },
    epochs: { type: 'string', default: '5' },
    with: { type: 'string' },
  },
});
const [folder, statesFile, out] = positionals;
const radius = Number(values.radius);
const width = 2 * radius + 1;
/** Pieces that are learnt from at once; all of one text. */
const longest = 400;
/** Slopes of tags that are out of the question, per sample. */
const negligible = 1e-6;
/** The sum of slopes over pieces is divided by this. */
const usualLength = 256;
/** A random field alone is better on articles and worse on tweets. Chosen by tweets of WNUT and of Broad Twitter, which are not held out therefore. */
const earlierShare = 0.6;
const rate = 2e-3;
const decay = 1e-5;
const impossible = -10_000;

interface Text extends MarkedText {
  collection: string;
  pieces: TextPieces;
  /** The row of its first state. */
  at: number;
}

const tokenizer = openTokenizer(new Uint8Array(readFileSync(join(encoderDir, 'tokenizer.bin'))));
const prefix = tokenizer.encode('passage:').ids;
const texts: Text[] = [];
let rows = 0;
for (const [collection, marked] of readCollections(folder, join(import.meta.dirname, '../../shared/data/ner'))) {
  for (const each of marked) {
    const pieces = tokenizer.encode(withoutShouting(each.text));
    texts.push({ ...each, collection, pieces, at: rows });
    rows += pieces.ids.length;
  }
}

if (!existsSync(statesFile)) {
  const session = await openOnnxSession(join(encoderDir, 'encoder.onnx'), { native: true });
  const file = openSync(statesFile, 'w');
  for (const { pieces } of texts) {
    for (const window of windowsOf(pieces.ids, prefix, MAX_WINDOWS)) {
      const { states } = await session.run(window);
      writeSync(file, states.subarray((1 + prefix.length) * DIM, (window.length - 1) * DIM));
    }
  }
  closeSync(file);
}
const states = new Float32Array(rows * DIM);
{
  const file = openSync(statesFile, 'r');
  const bytes = new Uint8Array(states.buffer);
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, Math.min(1 << 28, bytes.length - at), null);
    if (read === 0) throw new Error('the file of states is of other collections');
    at += read;
  }
  closeSync(file);
}

const learnt = texts.filter(({ collection }, at) => {
  if (values.without !== undefined && collection.includes(values.without)) return false;
  if (collection === 'wikigold' || collection === 'politics') return at % 2 === parityOf(collection);
  return /^(?:ai|literature|music|politics|science) (?:train|dev)$|^(?:de|nb) dev$/.test(collection);
});
/** Of these collections texts with even numbers are learnt. */
function parityOf(collection: string): number {
  return texts.findIndex((each) => each.collection === collection) % 2;
}

/** Tags of a text's pieces. What has no capital and no number is no name here: kinds of things, which some collections mark. */
function tagsOf({ text, spans, pieces }: Text): Uint8Array {
  const tags = new Uint8Array(pieces.ids.length);
  for (const { type, start, end } of spans) {
    const name = text.slice(start, end);
    if (name === name.toLowerCase() && name !== name.toUpperCase() && !/\d/.test(name)) continue;
    let tag = 1 + 2 * nameTypes.indexOf(type);
    for (let at = 0; at < tags.length; at++) {
      // A piece without characters is of the name that it is within.
      const isEmpty = pieces.ends[at] <= pieces.starts[at];
      if ((isEmpty ? pieces.starts[at] : pieces.ends[at]) <= start || pieces.starts[at] >= end) continue;
      tags[at] = tag;
      tag += tag % 2;
    }
  }
  return tags;
}

const inputs = width * DIM + SHAPES;
const samples = learnt.reduce((sum, { pieces }) => sum + pieces.ids.length, 0);
const rowOf = new Int32Array(samples);
/** First and last row of the text that a sample is in. */
const bounds = new Int32Array(2 * samples);
const tagOf = new Uint8Array(samples);
const shapes = new Uint8Array(samples * SHAPES);
const sequences: [from: number, to: number][] = [];
let sample = 0;
for (const text of learnt) {
  const tags = tagsOf(text);
  for (let from = 0; from < tags.length; from += longest)
    sequences.push([sample + from, sample + Math.min(tags.length, from + longest)]);
  for (let at = 0; at < tags.length; at++, sample++) {
    rowOf[sample] = text.at + at;
    bounds.set([text.at, text.at + tags.length - 1], 2 * sample);
    tagOf[sample] = tags[at];
    shapeOf(text.text, text.pieces, at, shapes.subarray(sample * SHAPES, (sample + 1) * SHAPES));
  }
}

// Columns have a mean of 0 and a deviation of 1 while it learns.
const mean = new Float64Array(DIM);
const deviation = new Float64Array(DIM);
for (const row of rowOf) {
  for (let i = 0; i < DIM; i++) {
    const value = states[row * DIM + i];
    mean[i] += value / samples;
    deviation[i] += (value * value) / samples;
  }
}
for (let i = 0; i < DIM; i++) deviation[i] = Math.sqrt(Math.max(1e-12, deviation[i] - mean[i] ** 2));

/** Numbers that are learnt, with Adam's two means of their slopes. */
const parameters = (size: number) => ({
  values: new Float64Array(size),
  slopes: new Float64Array(size),
  first: new Float64Array(size),
  second: new Float64Array(size),
});
const layer = parameters(TAGS * (inputs + 1));
const transitions = parameters(TAGS * TAGS);
const x = new Float32Array(inputs + 1);
const epochs = Number(values.epochs);
const steps = epochs * sequences.length;
const precision = deviation.map((each) => 1 / each);
const isPossible = (tag: number, next: number) => next === 0 || next % 2 === 1 || tag === next || tag === next - 1;
const follows = (tag: number, next: number) =>
  isPossible(tag, next) ? transitions.values[tag * TAGS + next] : impossible;

function readInput(no: number): void {
  const [low, high] = [bounds[2 * no], bounds[2 * no + 1]];
  for (let offset = 0; offset < width; offset++) {
    const row = rowOf[no] + offset - radius;
    const at = offset * DIM;
    if (row < low || row > high) x.fill(0, at, at + DIM);
    else for (let i = 0; i < DIM; i++) x[at + i] = (states[row * DIM + i] - mean[i]) * precision[i];
  }
  for (let i = 0; i < SHAPES; i++) x[width * DIM + i] = shapes[no * SHAPES + i];
  x[inputs] = 1;
}

function logOfSum(logs: Float64Array): number {
  const most = Math.max(...logs);
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
}

/** Forward and backward over a sequence (Rabiner 1989): how its probability changes with each number. */
function addSlopes(from: number, to: number): void {
  const count = to - from;
  const [local, grown, input] = [layer.values, layer.slopes, x];
  const scores = new Float64Array(count * TAGS);
  for (let piece = 0; piece < count; piece++) {
    readInput(from + piece);
    for (let tag = 0; tag < TAGS; tag++) {
      const at = tag * (inputs + 1);
      let sum = 0;
      for (let i = 0; i <= inputs; i++) sum += local[at + i] * input[i];
      scores[piece * TAGS + tag] = sum;
    }
  }
  const before = scores.slice();
  const after = new Float64Array(count * TAGS);
  const logs = new Float64Array(TAGS);
  for (let at = TAGS; at < before.length; at++) {
    const tag = at % TAGS;
    for (let other = 0; other < TAGS; other++) logs[other] = before[at - tag - TAGS + other] + follows(other, tag);
    before[at] += logOfSum(logs);
  }
  for (let at = after.length - TAGS - 1; at >= 0; at--) {
    const next = at - (at % TAGS) + TAGS;
    for (let other = 0; other < TAGS; other++)
      logs[other] = after[next + other] + scores[next + other] + follows(at % TAGS, other);
    after[at] = logOfSum(logs);
  }
  const all = logOfSum(before.subarray(before.length - TAGS));
  for (let piece = 0; piece < count; piece++) {
    const right = tagOf[from + piece];
    const row = piece * TAGS;
    readInput(from + piece);
    for (let tag = 0; tag < TAGS; tag++) {
      const slope = (Math.exp(before[row + tag] + after[row + tag] - all) - Number(tag === right)) / usualLength;
      if (Math.abs(slope) < negligible) continue;
      const at = tag * (inputs + 1);
      for (let i = 0; i <= inputs; i++) grown[at + i] += slope * input[i];
    }
    if (piece === 0) continue;
    for (let pair = 0; pair < TAGS * TAGS; pair++) {
      const [tag, next] = [Math.floor(pair / TAGS), pair % TAGS];
      const log = before[row - TAGS + tag] + follows(tag, next) + scores[row + next] + after[row + next] - all;
      if (isPossible(tag, next)) transitions.slopes[pair] += Math.exp(log) / usualLength;
    }
    transitions.slopes[tagOf[from + piece - 1] * TAGS + right] -= 1 / usualLength;
  }
}

function move(
  { values: moved, slopes, first, second }: ReturnType<typeof parameters>,
  now: number,
  step: number,
): void {
  const [firstShare, secondShare] = [1 - 0.9 ** step, 1 - 0.999 ** step];
  for (let i = 0; i < moved.length; i++) {
    first[i] = 0.9 * first[i] + 0.1 * slopes[i];
    second[i] = 0.999 * second[i] + 0.001 * slopes[i] ** 2;
    const change = first[i] / firstShare / (Math.sqrt(second[i] / secondShare) + 1e-8);
    moved[i] -= now * (change + decay * moved[i]);
  }
}

let seed = 42;
const chance = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
let step = 0;
for (let epoch = 0; epoch < epochs; epoch++) {
  for (let at = sequences.length - 1; at > 0; at--) {
    const other = Math.floor(chance() * (at + 1));
    [sequences[at], sequences[other]] = [sequences[other], sequences[at]];
  }
  for (const [from, to] of sequences) {
    layer.slopes.fill(0);
    transitions.slopes.fill(0);
    addSlopes(from, to);
    step++;
    const now = rate * (1 - step / (steps + 1));
    move(layer, now, step);
    move(transitions, 3 * now, step);
  }
  process.stderr.write(`epoch ${epoch + 1}\n`);
}

// The states as they come, without mean and deviation. At the ends of a text neighbours count as average: their share of the bias stays.
const bias = new Float32Array(TAGS);
const shapeWeights = new Float32Array(TAGS * SHAPES);
const stateWeights = new Float32Array(width * TAGS * DIM);
const table = new Float32Array(TAGS * TAGS);
for (let tag = 0; tag < TAGS; tag++) {
  const at = tag * (inputs + 1);
  let sum = layer.values[at + inputs];
  for (let offset = 0; offset < width; offset++) {
    for (let i = 0; i < DIM; i++) {
      const weight = layer.values[at + offset * DIM + i] / deviation[i];
      // A piece's evidence for the one `offset - radius` before it.
      stateWeights[(offset * TAGS + tag) * DIM + i] = weight;
      sum -= weight * mean[i];
    }
  }
  bias[tag] = sum;
  for (let i = 0; i < SHAPES; i++) shapeWeights[tag * SHAPES + i] = layer.values[at + width * DIM + i];
  for (let next = 0; next < TAGS; next++) table[tag * TAGS + next] = follows(tag, next);
}
const file = new Uint8Array(16 + 4 * (bias.length + table.length + shapeWeights.length + stateWeights.length));
new Uint32Array(file.buffer).set([NAMES_MAGIC, NAMES_VERSION, DIM, radius]);
let end = 4;
for (const part of [bias, table, shapeWeights, stateWeights]) {
  new Float32Array(file.buffer).set(part, end);
  end += part.length;
}
if (values.with !== undefined) {
  const earlier = new Float32Array(new Uint8Array(readFileSync(values.with)).buffer);
  const mixed = new Float32Array(file.buffer);
  for (let i = 4; i < mixed.length; i++) mixed[i] = earlierShare * earlier[i] + (1 - earlierShare) * mixed[i];
}
writeFileSync(out, file);

const tagger = openNameTagger(file);
const nameOf = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');
const measured = new Map<string, { texts: number; found: number; gold: number; right: number }>();
for (const text of texts) {
  if (learnt.includes(text)) continue;
  const evidence = tagger.evidenceOf(states, text.at, text.pieces.ids.length);
  // Some collections mark no other names.
  const hasOther = !/^(?:uner|btc)/.test(text.collection);
  const spans = tagger.namesIn(text.text, text.pieces, [evidence]);
  const kept = spans.filter((_, at) => hasOther || nameTypes[spans[at - (at % 3) + 2]] !== 'other');
  const found = new Set(namesOfPage(null, text.text, kept).flatMap(({ forms }) => forms.map(([form]) => nameOf(form))));
  const gold = new Set(text.spans.map(({ start, end: last }) => nameOf(text.text.slice(start, last))));
  const sum = measured.get(text.collection) ?? { texts: 0, found: 0, gold: 0, right: 0 };
  sum.texts++;
  sum.found += found.size;
  sum.gold += gold.size;
  for (const name of found) if (gold.has(name)) sum.right++;
  measured.set(text.collection, sum);
}
const share = (part: number, whole: number) => Math.round((1000 * part) / Math.max(1, whole)) / 1000;
const report = [...measured].map(([collection, { texts: count, found, gold, right }]) => ({
  collection,
  texts: count,
  precision: share(right, found),
  recall: share(right, gold),
  f1: share(2 * right, found + gold),
}));
console.log(JSON.stringify({ learnt: samples, radius, collections: report }, null, 1));
