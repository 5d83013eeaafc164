/**
 * Writes vectors of the embedded model for bench/dense.ts: documents.f32 (windows of 60 words, 20 words apart, of the texts in
 * ../shared/data/ir and ../shared/data/topics, shuffled with a seed) and queries.f32 (every tenth query of the ranking collections).
 * `node --import ./scripts/tsx-in-threads.mjs bench/local-vectors.ts <folder> [dim]`
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalEmbedder } from '../src/compute/embedding/embed-local.ts';
import { openWordVectors } from '../src/compute/embedding/word-vectors.ts';
import { createTextAnalyzer } from '../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../src/compute/text/wink-tokenizer.ts';
import { loadWordVectors } from '../src/engine/load-word-vectors.ts';
import { randomStream } from './workload.ts';

const WINDOW = 60;
const STEP = 20;
const SEED = 42;

const folder = process.argv[2];
if (folder === undefined) throw new Error('name the folder to write to');
const dim = Number(process.argv[3] ?? 1024);
const data = join(import.meta.dirname, '../../shared/data');
const embedder = createLocalEmbedder(openWordVectors(loadWordVectors()), dim);
const analyzer = createTextAnalyzer(createWinkTokenizer);

interface TextRecord {
  title?: string;
  text: string;
}

function readRecords(path: string): TextRecord[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

const collections = readdirSync(join(data, 'ir'));
const files = [
  ...collections.map((name) => join(data, 'ir', name, 'corpus.jsonl')),
  ...readdirSync(join(data, 'topics')).map((name) => join(data, 'topics', name)),
];
const rows: Float32Array[] = [];
for (const { title = '', text } of files.flatMap(readRecords)) {
  const { words, stems } = analyzer.terms(`${title} ${text}`);
  for (let from = 0; from === 0 || from + WINDOW / 2 < words.length; from += STEP) {
    const row = new Float32Array(dim);
    if (embedder.embedDocument(words, stems, from, Math.min(words.length, from + WINDOW), row, 0)) rows.push(row);
  }
}
const random = randomStream(SEED, 0, 0);
for (let i = rows.length - 1; i > 0; i--) {
  const other = Math.floor(random() * (i + 1));
  [rows[i], rows[other]] = [rows[other], rows[i]];
}
const queries = collections
  .flatMap((name) => readRecords(join(data, 'ir', name, 'queries.jsonl')))
  .filter((_, i) => i % 10 === 0)
  .map(({ text }) => {
    const { words, stems } = analyzer.terms(text);
    return embedder.embedQuery(words, stems).vector;
  })
  .filter((vector) => vector.some((value) => value !== 0));

function write(name: string, vectors: Float32Array[]): void {
  const all = new Float32Array(vectors.length * dim);
  vectors.forEach((vector, i) => {
    all.set(vector, i * dim);
  });
  writeFileSync(join(folder, name), new Uint8Array(all.buffer));
}

write('documents.f32', rows);
write('queries.f32', queries);
console.log(JSON.stringify({ folder, dim, documents: rows.length, queries: queries.length, seed: SEED }));
