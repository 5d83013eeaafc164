/**
 * JSON of answers. What fits into a piece is made at once. Larger answers are made piece by piece as the client takes them, with a turn of the
 * event loop between pieces, so that neither their size nor their number holds up others. Rows that an answer makes only when
 * they are asked for (`Rows`) are never all in memory.
 */
import { type Rows, TextInParts } from '../domain/rows.ts';
import type { LoopShare } from './loop-share.ts';

/** UTF-16 code units of a piece: some tenths of a millisecond, and more than ten results of two passages have. */
export const pieceLength = 128 * 1024;
/** What a number, a key's quotation marks or a bracket count, about. */
const overhead = 8;

/** An answer that is made piece by piece. */
export class LargeJson {
  /** UTF-16 code units that the answer holds in memory while it is written, about; those of one piece where it makes its rows. */
  readonly held: number;
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
    this.held = Math.max(pieceLength, sizeUpTo(Number.POSITIVE_INFINITY, value));
  }

  /** The text, in pieces of about `pieceLength`, each made when its turn has come. Errors: those of the rows. */
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

/** The JSON of an answer, at once where it is small. */
export function jsonOf(value: unknown): string | LargeJson {
  return sizeUpTo(pieceLength, value) < pieceLength && !hasRows(value)
    ? (JSON.stringify(value) ?? '')
    : new LargeJson(value);
}

/** The answer as its JSON will have it: rows that are made one by one count as the list, and parts as the text, that they become. */
export function withRows<Reply>(reply: Reply): Listed<Reply> {
  return reply as Listed<Reply>;
}

type Listed<Reply> = {
  [Name in keyof Reply]: Reply[Name] extends Rows<infer Row> ? Row[] : Exclude<Reply[Name], TextInParts>;
};

const isRows = (value: unknown): value is Rows<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

const isMadeLater = (value: unknown): boolean => isRows(value) || value instanceof TextInParts;

/** Rows, and a text in parts, stand in a field of the answer, nowhere deeper. */
function hasRows(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).some(isMadeLater);
}

/** About how long the JSON of a value is, counted up to `most`; rows that are still to be made count nothing. */
function sizeUpTo(most: number, value: unknown): number {
  if (typeof value === 'string') return value.length + overhead;
  if (typeof value !== 'object' || value === null || isMadeLater(value)) return overhead;
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
  if (!hasRows(value)) {
    yield* plainPartsOf(value);
    return;
  }
  let comma = '{';
  for (const [name, field] of Object.entries(value as object)) {
    if (field === undefined) continue;
    yield `${comma}${JSON.stringify(name)}:`;
    comma = ',';
    if (isRows(field)) yield* rowPartsOf(field);
    else if (field instanceof TextInParts) yield* textPartsOf(field);
    else yield* plainPartsOf(field);
  }
  yield '}';
}

async function* rowPartsOf(rows: Rows<unknown>): AsyncGenerator<string> {
  let comma = '[';
  for await (const row of rows) {
    yield comma;
    comma = ',';
    yield* plainPartsOf(row);
  }
  yield comma === '[' ? '[]' : ']';
}

async function* textPartsOf({ parts }: TextInParts): AsyncGenerator<string> {
  yield '"';
  for await (const part of parts) yield JSON.stringify(part).slice(1, -1);
  yield '"';
}

function* plainPartsOf(value: unknown): Generator<string> {
  if (sizeUpTo(pieceLength, value) < pieceLength) {
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
      yield* plainPartsOf(element);
    }
    yield ']';
  } else {
    let comma = '{';
    for (const [name, field] of Object.entries(value as object)) {
      if (field === undefined) continue;
      yield `${comma}${JSON.stringify(name)}:`;
      comma = ',';
      yield* plainPartsOf(field);
    }
    yield '}';
  }
}

/** A text in slices of `pieceLength`, none of which ends between the two halves of a character. */
export function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = from + pieceLength;
    const last = text.charCodeAt(to - 1);
    if (last >= 0xd800 && last <= 0xdbff) to++;
    yield text.slice(from, to);
    from = to;
  }
}
