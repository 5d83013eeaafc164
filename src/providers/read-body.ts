/**
 * The bytes of an answer, unpacked. What is counted is what comes out, of every layer of packing, so that a small answer cannot
 * become a large one; layers stream into each other, so that no more is in memory than what is kept.
 */
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { shownCode } from '../domain/error-code.ts';
import { FetchError, transportError } from './fetch-error.ts';

/** What is asked for. Node 20 has no zstd; Brotli is read where it comes unasked: its decoder may take megabytes. */
export const acceptEncoding = 'gzip, deflate';
/** A server that packs what was packed already makes two; nobody makes more in earnest. */
const maxLayers = 3;
/** Packings that exist and were not asked for. Any other word in the header is a mistake, and browsers take no notice of it. */
const unknownPackings = new Set(['zstd', 'compress', 'x-compress', 'dcb', 'dcz', 'exi', 'pack200-gzip', 'aes128gcm']);
const chunkSize = 65_536;
/** Of Brotli: 4 MB, what packers of web pages use at most by default. The allocator hardly gives back what larger ones have taken. */
const maxWindowBits = 22;
/** Of Brotli: what is gathered before it is unpacked. Sounds may be longer, and nobody packs them so. */
const maxGatheredBytes = 10_000_000;

type Chunk = Buffer<ArrayBuffer>;

/** What a body may take without asking for room: most pages never do. */
const freeBytes = 1_000_000;

export interface ReadBodyOptions {
  /** Give the first `maxBytes`, or as much as can be read, instead of an error. */
  cut: boolean;
  /** Asked by a body that is large, or is large to unpack, for so many bytes more before it goes on; null where they are there. */
  takeRoom: (bytes: number) => Promise<void> | null;
}

/**
 * Read a whole body. Its memory is given back at once where it is not wanted.
 * Errors: FetchError `too_large`, `bad_encoding`, `broken_answer`. Whoever stops the answer gets its reason.
 */
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
  /** Given each piece when the one before was taken; the bytes are gone after. */
  write: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Hand a whole body on, piece by piece.
 * Errors: as of `readBody`, and what `write` throws.
 */
export async function writeBody(
  answer: IncomingMessage,
  maxBytes: number,
  { write, takeRoom }: WriteBodyOptions,
): Promise<void> {
  try {
    const body = unpackedBody(answer, maxBytes, false, takeRoom)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await body.next();
      if (done === true) return;
      await write(value).catch((error: unknown) => {
        throw new WriteFailure(error);
      });
      freeMemory([value]);
    }
  } catch (error) {
    throw error instanceof WriteFailure ? error.cause : bodyError(error);
  }
}

/** Around what `write` throws: it is no fault of the answer. */
class WriteFailure extends Error {
  constructor(cause: unknown) {
    super('not written', { cause });
  }
}

/** A body with all packing taken off. Errors: FetchError `too_large` past `maxBytes` unless it is cut there. */
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
  if (packings.length > maxLayers) throw new FetchError('bad_encoding', 'the answer is packed too often');
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
  if (first.done === true) return; // an answer without a body may still name its packing
  if (packing === 'br' && brotliWindowBits(first.value[0] ?? 0) > maxWindowBits) {
    throw needsTooMuch();
  }
  const whole = async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => packed };
  };
  const input = packing === 'br' ? await gathered(whole(), takeRoom) : whole();
  const unpacker = unpackerOf(packing, first.value[0] ?? 0);
  // An error of either end is thrown by the loop below, too.
  yield* pipeline(input, unpacker, () => {}) as AsyncIterable<Chunk>;
}

/** All of a stream, once all of it is there and nobody else has a decoder: those take much, and this one waits for no byte. */
async function gathered(source: AsyncIterable<Chunk>, takeRoom: ReadBodyOptions['takeRoom']): Promise<Chunk[]> {
  const packed: Chunk[] = [];
  let size = 0;
  for await (const chunk of source) {
    packed.push(chunk);
    size += chunk.length;
    if (size > maxGatheredBytes) throw needsTooMuch();
    if (size > freeBytes) await takeRoom(chunk.length);
  }
  await takeRoom(Number.POSITIVE_INFINITY); // which only the first of all bodies gets
  return packed;
}

/** What the first byte of a Brotli stream says of its window (RFC 7932, 9.1), as far as windows over 128 KB go. */
function brotliWindowBits(firstByte: number): number {
  return (firstByte & 1) === 0 ? 16 : 17 + ((firstByte >> 1) & 7);
}

/** `deflate` means zlib's format and is sent as raw deflate, too; zlib's begins with method 8 and a header that 31 divides. */
function unpackerOf(packing: string, firstByte: number): Duplex {
  if (packing === 'br') return createBrotliDecompress({ chunkSize });
  if (packing !== 'deflate') return createGunzip({ chunkSize });
  return (firstByte & 0x0f) === 8 ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}

function bodyError(error: unknown): FetchError {
  const code = shownCode(error);
  if (/^(?:Z_|ERR_BROTLI|ERR_PADDING|ERR__ERROR_FORMAT|ERR_)/.test(code) && !code.startsWith('ERR_STREAM')) {
    return new FetchError('bad_encoding', `the answer is not packed as it says (${code})`, { cause: error });
  }
  return transportError(error, true);
}

function needsTooMuch(): FetchError {
  return new FetchError('bad_encoding', 'the answer needs too much memory to unpack', { permanent: true });
}

function tooLarge(maxBytes: number): FetchError {
  return new FetchError('too_large', `larger than ${maxBytes} bytes`);
}

const { port1, port2 } = new MessageChannel();
port1.close();
port2.close();

/**
 * Give the memory of buffers back at once. Bytes outside of V8's heap are free only after a collection otherwise, and V8 lets tens of
 * megabytes of them gather before it looks. A buffer that is sent to a closed port is detached and dropped; nothing else that Node 20
 * has does that (`ArrayBuffer.prototype.transfer` came with Node 21).
 *
 * Those that are all of their memory; a part of something larger stays, for somebody may be writing the rest. Nobody may look at them after.
 */
export function freeMemory(chunks: readonly Uint8Array<ArrayBuffer>[]): void {
  const whole = chunks.map(({ buffer, byteLength }) => (byteLength === buffer.byteLength ? buffer : null));
  port1.postMessage(null, [...new Set(whole.filter((buffer) => buffer !== null))]);
}
