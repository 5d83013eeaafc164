/** Reads and decodes a body in streams. Limits count the output of every layer, so that memory stays bounded. */
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { shownCode } from '../domain/errors.ts';
import { FetchError, transportError } from './fetch-error.ts';

/** Node 20 has no zstd. Brotli is accepted but not requested: its decoder may take megabytes. */
export const acceptEncoding = 'gzip, deflate';
/** A server that compresses compressed content makes two layers. More are malicious. */
const maxLayers = 3;
/** Known encodings that were not requested. Other words are mistakes, which browsers ignore. */
const unknownPackings = new Set(['zstd', 'compress', 'x-compress', 'dcb', 'dcz', 'exi', 'pack200-gzip', 'aes128gcm']);
const chunkSize = 65_536;
/** Brotli: 4 MB, the usual maximum for web pages. The allocator hardly returns larger windows. */
const maxWindowBits = 22;
/** Brotli: max bytes collected before decoding. Audio may be longer, but is never compressed. */
const maxGatheredBytes = 10_000_000;

type Chunk = Buffer<ArrayBuffer>;

/** Bytes that need no reservation; enough for most pages. */
const freeBytes = 1_000_000;

export interface ReadBodyOptions {
  /** Return the first `maxBytes`, or the readable part, instead of an error. */
  cut: boolean;
  /** Reserves bytes for a large body before it continues; null if available at once. */
  takeRoom: (bytes: number) => Promise<void> | null;
}

/** Errors: FetchError `too_large`, `bad_encoding`, `broken_answer`; the reason with which the answer was destroyed. */
export async function readBody(
  answer: IncomingMessage,
  maxBytes: number,
  { cut, takeRoom }: ReadBodyOptions,
): Promise<Uint8Array> {
  const kept: Chunk[] = [];
  let size = 0;
  try {
    try {
      for await (const chunk of unpackedBody(answer, maxBytes, cut, takeRoom)) {
        kept.push(chunk);
        size += chunk.length;
        if (size > freeBytes) await takeRoom(chunk.length);
      }
    } catch (error) {
      if (!cut) throw bodyError(error);
    }
    return Buffer.concat(kept).subarray(0, Math.min(size, maxBytes));
  } finally {
    freeMemory(kept);
  }
}

export interface WriteBodyOptions extends Pick<ReadBodyOptions, 'takeRoom'> {
  /** Called with each piece after the previous call has ended. The bytes are invalid afterwards. */
  write: (bytes: Uint8Array) => Promise<void>;
}

/** Stream a whole body. Errors: as of `readBody`, and those of `write`. */
export async function writeBody(
  answer: IncomingMessage,
  maxBytes: number,
  { write, takeRoom }: WriteBodyOptions,
): Promise<void> {
  const body = unpackedBody(answer, maxBytes, false, takeRoom)[Symbol.asyncIterator]();
  for (;;) {
    // Errors of `write` are not faults of the answer.
    const { done, value } = await body.next().catch((error: unknown) => {
      throw bodyError(error);
    });
    if (done === true) return;
    await write(value);
    freeMemory([value]);
  }
}

/** A body with all encodings removed. Errors: FetchError `too_large` above `maxBytes`, unless `cut`. */
function unpackedBody(
  answer: IncomingMessage,
  maxBytes: number,
  cut: boolean,
  takeRoom: ReadBodyOptions['takeRoom'],
): AsyncIterable<Chunk> {
  const limited = async function* (source: AsyncIterable<Chunk>) {
    let passed = 0;
    for await (const chunk of source) {
      passed += chunk.length;
      if (passed > maxBytes && !cut) throw tooLarge(maxBytes);
      yield chunk;
      if (passed > maxBytes) return;
    }
  };
  const layers = packingsOf(answer).reverse();
  const announced = Number(answer.headers['content-length'] ?? 0);
  if (layers.length === 0 && announced > maxBytes && !cut) throw tooLarge(maxBytes);
  let source: AsyncIterable<Chunk> = limited(answer);
  for (const packing of layers) source = limited(unpacked(source, packing, takeRoom));
  return source;
}

function packingsOf(answer: IncomingMessage): string[] {
  const names = (answer.headers['content-encoding'] ?? '').toLowerCase().split(',');
  const packings = names.map((name) => name.trim()).filter((name) => isPacking(name));
  if (packings.length > maxLayers) throw new FetchError('bad_encoding', 'the answer is compressed too often');
  return packings;
}

function isPacking(name: string): boolean {
  if (unknownPackings.has(name)) {
    throw new FetchError('bad_encoding', `unsupported content encoding ${name}`, { permanent: true });
  }
  return ['gzip', 'x-gzip', 'deflate', 'br'].includes(name);
}

async function* unpacked(
  source: AsyncIterable<Chunk>,
  packing: string,
  takeRoom: ReadBodyOptions['takeRoom'],
): AsyncGenerator<Chunk> {
  const packed = source[Symbol.asyncIterator]();
  const first = await packed.next();
  if (first.done === true) return; // an answer without a body may still have an encoding
  if (packing === 'br' && brotliWindowBits(first.value[0] ?? 0) > maxWindowBits) {
    throw needsTooMuch();
  }
  const whole = async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => packed };
  };
  const input = packing === 'br' ? await gathered(whole(), takeRoom) : whole();
  const unpacker = unpackerOf(packing, first.value[0] ?? 0);
  // The loop below also throws errors of both ends.
  yield* pipeline(input, unpacker, () => {}) as AsyncIterable<Chunk>;
}

/** The whole stream, once complete and no other decoder runs: decoders need much memory, and this one never waits for input. */
async function gathered(source: AsyncIterable<Chunk>, takeRoom: ReadBodyOptions['takeRoom']): Promise<Chunk[]> {
  const packed: Chunk[] = [];
  let size = 0;
  for await (const chunk of source) {
    packed.push(chunk);
    size += chunk.length;
    if (size > maxGatheredBytes) throw needsTooMuch();
    if (size > freeBytes) await takeRoom(chunk.length);
  }
  await takeRoom(Number.POSITIVE_INFINITY); // granted only to the first body in line
  return packed;
}

/** The window size in a Brotli stream's first byte (RFC 7932, 9.1), for windows over 128 KB. */
function brotliWindowBits(firstByte: number): number {
  return (firstByte & 1) === 0 ? 16 : 17 + ((firstByte >> 1) & 7);
}

/** `deflate` means zlib's format, but raw deflate is also sent; zlib's begins with method 8 and a header divisible by 31. */
function unpackerOf(packing: string, firstByte: number): Duplex {
  if (packing === 'br') return createBrotliDecompress({ chunkSize });
  if (packing !== 'deflate') return createGunzip({ chunkSize });
  return (firstByte & 0x0f) === 8 ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}

function bodyError(error: unknown): FetchError {
  const code = shownCode(error);
  if (/^(?:Z_|ERR_BROTLI|ERR_PADDING|ERR__ERROR_FORMAT|ERR_)/.test(code) && !code.startsWith('ERR_STREAM')) {
    return new FetchError('bad_encoding', `the answer does not have its declared encoding (${code})`, { cause: error });
  }
  return transportError(error, true);
}

function needsTooMuch(): FetchError {
  return new FetchError('bad_encoding', 'the answer needs too much memory to decompress', { permanent: true });
}

function tooLarge(maxBytes: number): FetchError {
  return new FetchError('too_large', `larger than ${maxBytes} bytes`);
}

const { port1, port2 } = new MessageChannel();
port1.close();
port2.close();

/**
 * Free buffers at once; V8 lets tens of megabytes accumulate outside its heap. Sending a buffer to a closed port
 * detaches it (Node 20 lacks `ArrayBuffer.prototype.transfer`). Skips partial views, whose rest may be in use.
 */
export function freeMemory(chunks: readonly Uint8Array<ArrayBuffer>[]): void {
  const whole = chunks.map(({ buffer, byteLength }) => (byteLength === buffer.byteLength ? buffer : null));
  port1.postMessage(null, [...new Set(whole.filter((buffer) => buffer !== null))]);
}
