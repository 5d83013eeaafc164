// Makes models/name-tagger.bin: npm run build:name-tagger -- CROSSNER [--without DOMAIN,…] [--out FILE]
// CROSSNER is the folder `ner_data` of zliucr/CrossNER, whose `dev` and `train` are learned from, and with them the even documents of ../shared/data/ner;
// `test` and the odd documents are for `npm run bench:entities`. --without leaves domains out, to see what is learned for those that nobody marked.
// Deterministic; takes some seconds. Prints what it learned from, and the file's checksum.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { crossNerDomains, type GoldDocument, readCrossNer, readGold } from '../bench/entities/gold.ts';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { findNames } from '../src/compute/entities/find-names.ts';
import { createFeatureReader, featureCount, type LineFeatures } from '../src/compute/entities/name-features.ts';
import { bestTags, encodeNameTagger, linesOf, tagCount, tagsOf, trimmed } from '../src/compute/entities/name-tagger.ts';
import { weighPage } from '../src/compute/entities/page-evidence.ts';
import { createTextReader } from '../src/compute/entities/read-tokens.ts';
import { createWordKinds } from '../src/compute/entities/word-kinds.ts';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';

const seed = 42;
const rounds = 6;
const ner = fileURLToPath(new URL('../../shared/data/ner', import.meta.url));

const { values, positionals } = parseArgs({
  options: {
    without: { type: 'string', default: '' },
    out: { type: 'string', default: fileURLToPath(new URL('../models/name-tagger.bin', import.meta.url)) },
  },
  allowPositionals: true,
});
if (positionals.length !== 1) throw new Error('name the folder of CrossNER');
const without = new Set(values.without.split(','));

interface Line {
  features: LineFeatures;
  marked: Int8Array;
}

const read = createTextReader();
const kinds = createWordKinds(openWordVectors(loadWordVectors()));

/** Each document as it is, a sentence a line, and as one paragraph: pages have both, and most have paragraphs. */
const bothWays = ({ text, ...rest }: GoldDocument): GoldDocument[] => [
  { text, ...rest },
  { text: text.replaceAll('\n', ' '), ...rest },
];

/** What people marked, as names are marked here (`trimmed`). */
function linesWithTags({ text, entities }: GoldDocument): Line[] {
  const { tokens } = read(text);
  const context = { tokens, evidence: weighPage(tokens, 'en'), kinds };
  const found = tagsOf(findNames(context), tokens.length);
  const spans = entities.flatMap(({ start, end }) => {
    const first = tokens.findIndex((token) => token.end > start && token.start < end);
    const last = tokens.findLastIndex((token) => token.end > start && token.start < end);
    const name = first < 0 ? null : trimmed(context, first, last);
    return name === null ? [] : [name];
  });
  const marked = tagsOf(spans, tokens.length);
  const featuresOf = createFeatureReader(context, found);
  return [...linesOf(context)].map(([from, to]) => ({
    features: featuresOf(from, to),
    marked: marked.subarray(from, to),
  }));
}

/** Weights, and what they were in the mean of all steps: the mean knows more than the last (Collins 2002, "averaged parameters"). */
class AveragedWeights {
  readonly now: Float64Array;
  readonly #sums: Float64Array;
  readonly #since: Int32Array;

  constructor(count: number) {
    this.now = new Float64Array(count);
    this.#sums = new Float64Array(count);
    this.#since = new Int32Array(count);
  }

  add(at: number, difference: number, step: number): void {
    this.#sums[at] += (step - this.#since[at]) * this.now[at];
    this.#since[at] = step;
    this.now[at] += difference;
  }

  mean(steps: number): Float64Array {
    return this.#sums.map((sum, at) => (sum + (steps - this.#since[at]) * this.now[at]) / steps);
  }
}

function train(lines: readonly Line[]) {
  const weights = new AveragedWeights(featureCount * tagCount);
  const transitions = new AveragedWeights(tagCount * tagCount);
  const random = seededRandom(seed);
  let step = 0;
  for (let round = 0; round < rounds; round++) {
    for (const { features, marked } of shuffled(lines, random)) {
      step++;
      const tags = bestTags({ weights: weights.now, transitions: transitions.now }, features);
      for (let i = 0; i < tags.length; i++) {
        if (tags[i] !== marked[i]) {
          for (const feature of features[i]) {
            weights.add(feature * tagCount + marked[i], 1, step);
            weights.add(feature * tagCount + tags[i], -1, step);
          }
        }
        if (i === 0) continue;
        const [right, wrong] = [marked, tags].map((each) => each[i - 1] * tagCount + each[i]);
        if (right === wrong) continue;
        transitions.add(right, 1, step);
        transitions.add(wrong, -1, step);
      }
    }
  }
  return { weights: weights.mean(step), transitions: transitions.mean(step) };
}

function shuffled(lines: readonly Line[], random: () => number): Line[] {
  const order = lines.map((line) => ({ line, place: random() }));
  return order.sort((a, b) => a.place - b.place).map(({ line }) => line);
}

const known = [
  ...['wikigold', 'crossner-politics'].map((name) => ({
    name,
    documents: () => readGold(ner, name).filter((_, at) => at % 2 === 0),
  })),
  ...[...crossNerDomains, 'ai'].map((name) => ({
    name,
    documents: () => ['dev', 'train'].flatMap((part) => readCrossNer(positionals[0], name, part)),
  })),
];
const unknown = [...without].filter((name) => name !== '' && !known.some((source) => source.name === name));
if (unknown.length > 0) throw new Error(`not learned from: ${unknown.join(', ')}`);
const sources = known.filter(({ name }) => !without.has(name));
const lines = sources.flatMap(({ documents }) => documents().flatMap(bothWays).flatMap(linesWithTags));
const file = encodeNameTagger(train(lines));
writeFileSync(values.out, file);
const sha256 = createHash('sha256').update(file).digest('hex');
console.log(
  JSON.stringify({ learned_from: sources.map(({ name }) => name), lines: lines.length, bytes: file.length, sha256 }),
);
