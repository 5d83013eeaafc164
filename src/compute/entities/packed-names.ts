/** Names on their way to the thread that compares them: bytes, which are moved there instead of cloned object by object. */
import type { NamedEntity } from './find-merges.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export type PackedNames = Uint8Array<ArrayBuffer>;

export function packNames(names: readonly NamedEntity[]): PackedNames {
  return encoder.encode(JSON.stringify(names.map(({ no, type, key, isCased }) => [no, type, key, isCased ? 1 : 0])));
}

/** The names of all pieces in turn, unpacked anew each time they are gone through: one piece is in memory as objects at a time. */
export function unpackNames(pieces: readonly PackedNames[]): Iterable<NamedEntity> {
  return {
    *[Symbol.iterator]() {
      for (const piece of pieces) {
        const names = JSON.parse(decoder.decode(piece)) as [number, string, string, 0 | 1][];
        for (const [no, type, key, isCased] of names) {
          yield { no, type, key, isCased: isCased === 1 };
        }
      }
    },
  };
}
