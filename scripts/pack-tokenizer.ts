/**
 * Packs a Unigram vocabulary as the file that `src/compute/embedding/unigram-tokenizer.ts` reads (models/README.md).
 * Usage: node --import ./scripts/tsx-in-threads.mjs scripts/pack-tokenizer.ts tokenizer.json tokenizer.bin
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  END_LABEL,
  HEADER_BYTES,
  TOKENIZER_MAGIC,
  TOKENIZER_VERSION,
} from '../src/compute/embedding/unigram-tokenizer.ts';

/** Pieces that stand for no text. */
const special = new Set(['<s>', '<pad>', '</s>', '<unk>', '<mask>']);

/** Places looked at before the search for free ones moves on. */
const maxTries = 500;

interface Trie {
  base: Int32Array;
  label: Uint8Array;
  used: number;
}

/** A double array of sorted keys, whose node 0 is the root. */
function buildTrie(keys: readonly { bytes: Buffer; id: number }[]): Trie {
  const size = 4_000_000;
  const base = new Int32Array(size);
  const label = new Uint8Array(size);
  const isTaken = new Uint8Array(size);
  const isBase = new Uint8Array(size);
  let firstFree = 1;
  let used = 1;
  isTaken[0] = 1;
  const waiting: { node: number; from: number; to: number; depth: number }[] = [
    { node: 0, from: 0, to: keys.length, depth: 0 },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, from, to, depth } = next;
    const children: { byte: number; from: number; to: number }[] = [];
    for (let at = from; at < to; ) {
      const byte = keys[at].bytes[depth];
      let end = at;
      while (end < to && keys[end].bytes[depth] === byte) end++;
      children.push({ byte, from: at, to: end });
      at = end;
    }
    while (isTaken[firstFree] === 1) firstFree++;
    let place = Math.max(1, firstFree - children[0].byte);
    const fits = () => isBase[place] === 0 && children.every(({ byte }) => isTaken[place + byte] === 0);
    let tries = 0;
    while (!fits()) {
      place++;
      // Holes that nothing fits into are given up.
      if (++tries === maxTries) firstFree = place + children[0].byte;
    }
    base[node] = place;
    isBase[place] = 1;
    for (const child of children) {
      const at = place + child.byte;
      isTaken[at] = 1;
      label[at] = child.byte;
      used = Math.max(used, at + 1);
      if (child.byte === END_LABEL) base[at] = keys[child.from].id;
      else waiting.push({ node: at, from: child.from, to: child.to, depth: depth + 1 });
    }
  }
  return { base, label, used };
}

const [source, target] = process.argv.slice(2);
const { model } = JSON.parse(readFileSync(source, 'utf8')) as { model: { vocab: [string, number][] } };
const keys = model.vocab
  .map(([piece], id) => ({ bytes: Buffer.from(`${piece}\x01`), id, piece }))
  .filter(({ piece }) => !special.has(piece))
  .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
const { base, label, used } = buildTrie(keys);
const scores = Float32Array.from(model.vocab, ([, score]) => score);
const head = Buffer.alloc(HEADER_BYTES);
head.writeUInt32LE(TOKENIZER_MAGIC, 0);
head.writeUInt32LE(TOKENIZER_VERSION, 4);
head.writeUInt32LE(used, 8);
head.writeUInt32LE(scores.length, 12);
head.writeFloatLE(
  keys.reduce((least, { id }) => Math.min(least, scores[id]), 0),
  16,
);
const parts = [base.subarray(0, used), scores, label.subarray(0, used)].map(({ buffer, byteOffset, byteLength }) =>
  Buffer.from(buffer, byteOffset, byteLength),
);
writeFileSync(target, Buffer.concat([head, ...parts]));
process.stdout.write(`${keys.length} pieces, ${used} nodes\n`);
