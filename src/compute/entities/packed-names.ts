/** Names on their way to the thread that compares them: bytes, which are moved there instead of cloned object by object. */
import type { NamedEntity } from './find-merges.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export type PackedNames = Uint8Array<ArrayBuffer>;

export function packNames(names: readonly NamedEntity[]): PackedNames {
  return encoder.encode(JSON.stringify(names.map(({ no, type, key }) => [no, type, key])));
}

/** The names of all pieces in turn, unpacked anew each time they are gone through: one piece is in memory as objects at a time. */
export function unpackNames(pieces: readonly PackedNames[]): Iterable<NamedEntity> {
  return {
    *[Symbol.iterator]() {
      for (const piece of pieces) {
        for (const [no, type, key] of JSON.parse(decoder.decode(piece)) as [number, string, string][]) {
          yield { no, type, key };
        }
      }
    },
  };
}
