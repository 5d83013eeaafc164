/**
 * Writes `encoder.json` for a folder that has `encoder.onnx`, `tokenizer.bin` and `names.bin`: sizes, checksums, and the vector of a known text.
 * Usage: node --import ./scripts/tsx-in-threads.mjs scripts/pack-manifest.ts FOLDER MODEL
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_WINDOWS, windowsOf } from '../src/compute/embedding/encoder-windows.ts';
import { openTokenizer } from '../src/compute/embedding/unigram-tokenizer.ts';
import { openOnnxSession } from '../src/encoder/onnx-session.ts';

const [folder, model] = process.argv.slice(2);
const text = 'Herons stand still in shallow water and wait for fish.';
const fileOf = (name: string) => {
  const bytes = readFileSync(join(folder, name));
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
};
const tokenizer = openTokenizer(new Uint8Array(readFileSync(join(folder, 'tokenizer.bin'))));
const [window] = windowsOf(tokenizer.encode(text).ids, tokenizer.encode('passage:').ids, MAX_WINDOWS.passage);
const session = await openOnnxSession(join(folder, 'encoder.onnx'), { native: true });
const { vector } = await session.run(window);
const rounded = Array.from(vector, (each) => Math.round(each * 1e4) / 1e4);
const manifest = {
  model,
  dim: vector.length,
  encoder: fileOf('encoder.onnx'),
  tokenizer: fileOf('tokenizer.bin'),
  names: fileOf('names.bin'),
  known: { text, vector: rounded },
};
writeFileSync(join(folder, 'encoder.json'), `${JSON.stringify(manifest)}\n`);
process.stdout.write(`${session.runtime}, ${vector.length} dimensions\n`);
process.exit(0);
