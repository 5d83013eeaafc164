/** Files whose SHA-256, in hex, is kept elsewhere. Errors: those of the file system. */
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, writeSync } from 'node:fs';

const pieceBytes = 4 * 2 ** 20;

/** `using` closes it. Errors: those of the file system. */
export function openedFile(path: string, flags: string, mode?: number): Disposable & { descriptor: number } {
  const descriptor = openSync(path, flags, mode);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece);
  return hash.digest('hex');
}

/** Write a file, without fsync. Returns its SHA-256. `flag`: `wx` refuses an existing path. */
export function writePieces(path: string, pieces: Iterable<Uint8Array>, flag: 'w' | 'wx' = 'w'): string {
  const hash = createHash('sha256');
  using file = openedFile(path, flag, 0o600);
  for (const piece of pieces) {
    hash.update(piece);
    for (let at = 0; at < piece.length; ) at += writeSync(file.descriptor, piece, at);
  }
  return hash.digest('hex');
}

/** Fill `bytes` from an open file; false if the file is shorter. */
export function readInto(file: number, bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(file, bytes, at, Math.min(pieceBytes, bytes.length - at), null);
    if (read === 0) return false;
    at += read;
  }
  return true;
}
