/** JSON of answers: small ones at once; larger ones and lazy rows in pieces, as the client reads. */
import { type Rows, TextInParts } from '../domain/rows.ts';
import type { LoopShare } from './loop-share.ts';

/** UTF-16 code units of a piece: some 0.1 ms. More than ten results of two passages. */
export const pieceLength = 128 * 1024;
/** Approximate size of a number, quotation marks or a bracket. */
const overhead = 8;

export class LargeJson {
  /** Approximate UTF-16 code units in memory; one piece for lazy rows. */
  readonly units: number;
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
    this.units = Math.max(pieceLength, sizeUpTo(Number.POSITIVE_INFINITY, value));
  }

  /** The text in pieces of about `pieceLength`. Errors: those of the rows. */
  async *pieces(share: LoopShare): AsyncGenerator<string> {
    let piece = '';
    for await (const part of partsOf(this.#value)) {
      piece += part;
      if (piece.length < pieceLength) continue;
      yield piece;
      piece = '';
      await share.nextTurn();
    }
    if (piece !== '') yield piece;
  }
}

export function jsonOf(value: unknown): string | LargeJson {
  return sizeUpTo(pieceLength, value) < pieceLength ? (JSON.stringify(value) ?? '') : new LargeJson(value);
}

/** The answer with the type of its JSON: lazy rows count as the list, parts as the text. */
export function withRows<Reply>(reply: Reply): Listed<Reply> {
  return reply as Listed<Reply>;
}

type Listed<Reply> = {
  [Name in keyof Reply]: Reply[Name] extends Rows<infer Row> ? Row[] : Exclude<Reply[Name], TextInParts>;
};

const isRows = (value: unknown): value is Rows<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

type MadeLater = Rows<unknown> | TextInParts;

const isMadeLater = (value: unknown): value is MadeLater => isRows(value) || value instanceof TextInParts;

/** Approximate JSON length of a value, up to `most`. Lazy parts count as one piece. */
function sizeUpTo(most: number, value: unknown): number {
  if (typeof value === 'string') return value.length + overhead;
  if (typeof value !== 'object' || value === null) return overhead;
  if (isMadeLater(value)) return pieceLength;
  let size = overhead;
  if (Array.isArray(value)) {
    for (const element of value) {
      size += sizeUpTo(most - size, element);
      if (size >= most) break;
    }
    return size;
  }
  for (const name in value) {
    size += name.length + sizeUpTo(most - size, (value as Record<string, unknown>)[name]);
    if (size >= most) break;
  }
  return size;
}

async function* partsOf(value: unknown): AsyncGenerator<string> {
  for (const part of presentPartsOf(value)) {
    if (typeof part === 'string') yield part;
    else if (isRows(part)) yield* rowPartsOf(part);
    else yield* textPartsOf(part);
  }
}

async function* rowPartsOf(rows: Rows<unknown>): AsyncGenerator<string> {
  let comma = '[';
  for await (const row of rows) {
    yield comma;
    comma = ',';
    yield* partsOf(row);
  }
  yield comma === '[' ? '[]' : ']';
}

async function* textPartsOf({ parts }: TextInParts): AsyncGenerator<string> {
  yield '"';
  for await (const part of parts) yield JSON.stringify(part).slice(1, -1);
  yield '"';
}

function* presentPartsOf(value: unknown): Generator<string | MadeLater> {
  if (isMadeLater(value)) {
    yield value;
  } else if (sizeUpTo(pieceLength, value) < pieceLength) {
    yield JSON.stringify(value) ?? 'null';
  } else if (typeof value === 'string') {
    yield '"';
    for (const slice of slicesOf(value)) yield JSON.stringify(slice).slice(1, -1);
    yield '"';
  } else if (Array.isArray(value)) {
    let comma = '[';
    for (const element of value) {
      yield comma;
      comma = ',';
      yield* presentPartsOf(element);
    }
    yield ']';
  } else {
    let comma = '{';
    for (const [name, field] of Object.entries(value as object)) {
      if (field === undefined) continue;
      yield `${comma}${JSON.stringify(name)}:`;
      comma = ',';
      yield* presentPartsOf(field);
    }
    yield '}';
  }
}

/** Slices of `pieceLength` that never split a surrogate pair. */
export function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = from + pieceLength;
    const last = text.charCodeAt(to - 1);
    if (last >= 0xd800 && last <= 0xdbff) to++;
    yield text.slice(from, to);
    from = to;
  }
}
