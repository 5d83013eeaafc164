/**
 * The bytes of an answer, unpacked. What is counted is what comes out, of every layer of packing, so that a small answer cannot
 * become a large one; layers stream into each other, so that no more is in memory than what is kept.
 */
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { FetchError, systemCodeOf, transportError } from './fetch-error.ts';

/** What is asked for. Node 20 has no zstd. */
export const acceptEncoding = 'gzip, deflate, br';
/** A server that packs what was packed already makes two; nobody makes more in earnest. */
const maxLayers = 3;
/** Packings that exist and were not asked for. Any other word in the header is a mistake, and browsers take no notice of it. */
const unknownPackings = new Set(['zstd', 'compress', 'x-compress', 'dcb', 'dcz', 'exi', 'pack200-gzip', 'aes128gcm']);
const chunkSize = 65_536;

/**
 * Read a whole body. `cut`: give the first `maxBytes`, or as much as can be read, instead of an error.
 * Errors: FetchError `too_large`, `bad_encoding`, `broken_answer`. Whoever stops the answer gets its reason.
 */
export async function readBody(
  answer: IncomingMessage,
  maxBytes: number,
  { cut }: { cut: boolean },
): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let size = 0;
  const limited = async function* (source: AsyncIterable<Buffer>) {
    let passed = 0;
    for await (const chunk of source) {
      passed += chunk.length;
      if (passed > maxBytes && !cut) throw tooLarge(maxBytes);
      yield chunk;
      if (passed > maxBytes) return;
    }
  };
  try {
    const layers = packingsOf(answer).reverse();
    const announced = Number(answer.headers['content-length'] ?? 0);
    if (layers.length === 0 && announced > maxBytes && !cut) throw tooLarge(maxBytes);
    let source: AsyncIterable<Buffer> = limited(answer);
    for (const packing of layers) source = limited(unpacked(source, packing));
    for await (const chunk of source) {
      kept.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (!cut) throw bodyError(error);
  }
  return Buffer.concat(kept).subarray(0, Math.min(size, maxBytes));
}

function packingsOf(answer: IncomingMessage): string[] {
  const names = (answer.headers['content-encoding'] ?? '').toLowerCase().split(',');
  const packings = names.map((name) => name.trim()).filter((name) => isPacking(name));
  if (packings.length > maxLayers) throw new FetchError('bad_encoding', 'the answer is packed too often');
  return packings;
}

function isPacking(name: string): boolean {
  if (unknownPackings.has(name)) {
    throw new FetchError('bad_encoding', `unsupported content encoding ${name}`, { permanent: true });
  }
  return ['gzip', 'x-gzip', 'deflate', 'br'].includes(name);
}

async function* unpacked(source: AsyncIterable<Buffer>, packing: string): AsyncGenerator<Buffer> {
  const packed = source[Symbol.asyncIterator]();
  const first = await packed.next();
  if (first.done === true) return; // an answer without a body may still name its packing
  const whole = async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => packed };
  };
  const unpacker = unpackerOf(packing, first.value[0] ?? 0);
  // An error of either end is thrown by the loop below, too.
  yield* pipeline(whole, unpacker, () => {}) as AsyncIterable<Buffer>;
}

/** `deflate` means zlib's format and is sent as raw deflate, too; zlib's begins with method 8 and a header that 31 divides. */
function unpackerOf(packing: string, firstByte: number): Duplex {
  if (packing === 'br') return createBrotliDecompress({ chunkSize });
  if (packing !== 'deflate') return createGunzip({ chunkSize });
  return (firstByte & 0x0f) === 8 ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}

function bodyError(error: unknown): FetchError {
  const code = systemCodeOf(error);
  if (/^(?:Z_|ERR_BROTLI|ERR_PADDING|ERR__ERROR_FORMAT|ERR_)/.test(code) && !code.startsWith('ERR_STREAM')) {
    return new FetchError('bad_encoding', `the answer is not packed as it says (${code})`, { cause: error });
  }
  return transportError(error, true);
}

function tooLarge(maxBytes: number): FetchError {
  return new FetchError('too_large', `larger than ${maxBytes} bytes`);
}
