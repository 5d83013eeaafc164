/**
 * Trains `names.bin`: a linear layer over the encoder's states (src/compute/text/name-tags.ts), by logistic regression with Adam over
 * pieces of texts in which people marked names. Prints F1 of collections that it did not learn from, as JSON. Where the collections come
 * from and lie: models/README.md.
 * Usage: node --import ./scripts/tsx-in-threads.mjs scripts/train-names.ts FOLDER STATES OUT [--without PART] [--radius 1]
 * STATES: a file for the states of all texts, written where it is missing. PART: collections whose name contains it are not learnt.
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
    weigh: { type: 'string', default: '0.3' },
  },
});
const [folder, statesFile, out] = positionals;
const radius = Number(values.radius);
const width = 2 * radius + 1;
/** How much a tag's predecessor counts against what the pieces say: chosen on CrossNER ai. */
const weighTransitions = Number(values.weigh);
const batch = 256;
/** Slopes of tags that are out of the question, per sample. */
const negligible = 1e-6;
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
  return /^(?:ai|literature|music|science) (?:train|dev)$|^(?:de|nb) dev$/.test(collection);
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
      if (pieces.ends[at] <= pieces.starts[at] || pieces.ends[at] <= start || pieces.starts[at] >= end) continue;
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
const transitions = new Float64Array(TAGS * TAGS).fill(1);
let sample = 0;
for (const text of learnt) {
  const tags = tagsOf(text);
  for (let at = 0; at < tags.length; at++, sample++) {
    rowOf[sample] = text.at + at;
    bounds.set([text.at, text.at + tags.length - 1], 2 * sample);
    tagOf[sample] = tags[at];
    shapeOf(text.text, text.pieces, at, shapes.subarray(sample * SHAPES, (sample + 1) * SHAPES));
    if (at > 0) transitions[tags[at - 1] * TAGS + tags[at]]++;
  }
}
const prior = new Float64Array(TAGS);
for (const tag of tagOf) prior[tag] += 1 / samples;

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

let seed = 42;
const chance = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};
const weights = new Float32Array(TAGS * (inputs + 1));
const slopes = new Float32Array(weights.length);
const first = new Float64Array(weights.length);
const second = new Float64Array(weights.length);
const order = Int32Array.from({ length: samples }, (_, at) => at);
const x = new Float32Array(inputs + 1);
const scores = new Float64Array(TAGS);
const epochs = Number(values.epochs);
const steps = epochs * Math.ceil(samples / batch);
const precision = deviation.map((each) => 1 / each);
/** One pass over some samples: what each weight should change by. Its own function, which the compiler takes as a whole. */
function addSlopes(from: number, to: number): void {
  const [local, grown, input, found] = [weights, slopes, x, scores];
  for (let place = from; place < to; place++) {
    const no = order[place];
    const [low, high] = [bounds[2 * no], bounds[2 * no + 1]];
    for (let offset = 0; offset < width; offset++) {
      const row = rowOf[no] + offset - radius;
      const at = offset * DIM;
      if (row < low || row > high) input.fill(0, at, at + DIM);
      else for (let i = 0; i < DIM; i++) input[at + i] = (states[row * DIM + i] - mean[i]) * precision[i];
    }
    for (let i = 0; i < SHAPES; i++) input[width * DIM + i] = shapes[no * SHAPES + i];
    input[inputs] = 1;
    let most = Number.NEGATIVE_INFINITY;
    for (let tag = 0; tag < TAGS; tag++) {
      let sum = 0;
      const at = tag * (inputs + 1);
      for (let i = 0; i <= inputs; i++) sum += local[at + i] * input[i];
      found[tag] = sum;
      most = Math.max(most, sum);
    }
    let total = 0;
    for (let tag = 0; tag < TAGS; tag++) {
      found[tag] = Math.exp(found[tag] - most);
      total += found[tag];
    }
    for (let tag = 0; tag < TAGS; tag++) {
      const slope = (found[tag] / total - Number(tag === tagOf[no])) / (to - from);
      if (Math.abs(slope) < negligible) continue;
      const at = tag * (inputs + 1);
      for (let i = 0; i <= inputs; i++) grown[at + i] += slope * input[i];
    }
  }
}

function moveWeights(step: number): void {
  const now = rate * (1 - step / (steps + 1));
  const [firstShare, secondShare] = [1 - 0.9 ** step, 1 - 0.999 ** step];
  for (let i = 0; i < weights.length; i++) {
    first[i] = 0.9 * first[i] + 0.1 * slopes[i];
    second[i] = 0.999 * second[i] + 0.001 * slopes[i] ** 2;
    const change = first[i] / firstShare / (Math.sqrt(second[i] / secondShare) + 1e-8);
    weights[i] -= now * (change + decay * weights[i]);
  }
}

let step = 0;
for (let epoch = 0; epoch < epochs; epoch++) {
  for (let at = samples - 1; at > 0; at--) {
    const other = Math.floor(chance() * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  for (let from = 0; from < samples; from += batch) {
    slopes.fill(0);
    addSlopes(from, Math.min(samples, from + batch));
    moveWeights(++step);
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
  let sum = weights[at + inputs];
  for (let offset = 0; offset < width; offset++) {
    for (let i = 0; i < DIM; i++) {
      const weight = weights[at + offset * DIM + i] / deviation[i];
      // A piece's evidence for the one `offset - radius` before it.
      stateWeights[(offset * TAGS + tag) * DIM + i] = weight;
      sum -= weight * mean[i];
    }
  }
  bias[tag] = sum;
  for (let i = 0; i < SHAPES; i++) shapeWeights[tag * SHAPES + i] = weights[at + width * DIM + i];
  const outgoing = transitions.subarray(tag * TAGS, (tag + 1) * TAGS).reduce((total, count) => total + count, 0);
  for (let next = 0; next < TAGS; next++) {
    const continues = next > 0 && next % 2 === 0;
    const isPossible = !continues || tag === next || tag === next - 1;
    const usual = Math.log(transitions[tag * TAGS + next] / outgoing) - Math.log(prior[next]);
    table[tag * TAGS + next] = isPossible ? weighTransitions * usual : impossible;
  }
}
const file = new Uint8Array(16 + 4 * (bias.length + table.length + shapeWeights.length + stateWeights.length));
new Uint32Array(file.buffer).set([NAMES_MAGIC, NAMES_VERSION, DIM, radius]);
let end = 4;
for (const part of [bias, table, shapeWeights, stateWeights]) {
  new Float32Array(file.buffer).set(part, end);
  end += part.length;
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
