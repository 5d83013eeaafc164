// Makes models/word-vectors.bin from the embeddings that models/README.md names: npm run build:word-vectors -- PATH_TO_JSON [--fine WORDS]
// Prints the file's size and checksum. Takes a minute and 2 GB of memory.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { encodeWordVectors } from './word-vectors/encode.ts';
import { readEmbeddings } from './word-vectors/read-embeddings.ts';

/** Words whose components have 8 bits: so many leave the file below 24 MB. */
const defaultFine = 50_000;

const { values, positionals } = parseArgs({
  options: { fine: { type: 'string', default: String(defaultFine) } },
  allowPositionals: true,
});
if (positionals.length !== 1) throw new Error('name the JSON file of the embeddings');
const file = encodeWordVectors(readEmbeddings(readFileSync(positionals[0], 'utf8')), Number(values.fine));
writeFileSync(fileURLToPath(new URL('../models/word-vectors.bin', import.meta.url)), file);
console.log(JSON.stringify({ bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') }));
