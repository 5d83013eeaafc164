/**
 * Bounds the memory of answers that slow clients have not taken yet, over all connections. Every answer takes room for what it holds until it is
 * sent. When there is no room, the slowest answers are ended; a bounded number of new ones wait for a while and are then refused with 503.
 * An answer of which a client takes nothing for long is ended in any case. Streams with bounds of their own, such as the events, do not count.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { BodyRoom } from '../compute/structures/body-room.ts';
import { DomainError } from '../domain/errors.ts';
import { whenOver } from './answer-end.ts';
import { LargeJson, pieceLength, slicesOf } from './json-answer.ts';
import type { LoopShare } from './loop-share.ts';

export interface AnswerLimits {
  /** UTF-16 code units, of one or two bytes, that all answers together hold; one answer more may be of any size. */
  held: number;
  /** Of those that wait for room. */
  waiting: number;
  /** An answer waits so long for room, ms. */
  waitMs: number;
  /** Without a piece taken for so long an answer is ended, ms. */
  stallMs: number;
  /** Nobody is too slow before, ms: a client may be held up, and kernels take megabytes at once and then nothing for a while. */
  graceMs: number;
}

const megabyte = 1024 * 1024;
export const answerLimits: AnswerLimits = {
  held: 64 * megabyte,
  waiting: 64 * megabyte,
  waitMs: 8_000,
  stallMs: 30_000,
  graceMs: 5_000,
};

/** How often answers are looked at, ms. */
const lookEveryMs = 1_000;
/** Smaller ones are not counted: 15,000 connections hold 60 MB of them at most. */
const uncounted = 4 * 1024;
/** Where there was no room, s. */
const retryAfterS = 5;

interface OpenAnswer {
  raw: ServerResponse;
  beganAt: number;
  movedAt: number;
  /** UTF-16 code units. */
  taken: number;
}

/** The answers under way. `monotonic`: ms. */
export class UntakenAnswers {
  readonly #limits: AnswerLimits;
  readonly #monotonic: () => number;
  readonly #room: BodyRoom;
  readonly #open = new Set<OpenAnswer>();
  #waiting = 0;

  constructor(limits: AnswerLimits = answerLimits, monotonic = () => performance.now()) {
    this.#limits = limits;
    this.#monotonic = monotonic;
    this.#room = new BodyRoom(limits.held);
  }

  /**
   * Take room for an answer that holds so much until its connection is through with it.
   * Errors: DomainError `overloaded` where none comes in time, or too many wait already.
   */
  async open(raw: ServerResponse, held: number): Promise<OpenAnswer> {
    const share = this.#room.enter();
    const patience = new AbortController();
    const answer: OpenAnswer = { raw, beganAt: 0, movedAt: 0, taken: 0 };
    let isOver = false;
    let isWaiting = false;
    const leave = () => {
      isOver = true;
      if (isWaiting) patience.abort(noRoom());
      this.#open.delete(answer);
      share.leave();
    };
    whenOver(raw, leave);
    const room = share.take(held, patience.signal);
    isWaiting = room !== null;
    if (room !== null) await this.#wait(room, held, patience);
    isWaiting = false;
    answer.beganAt = this.#monotonic();
    answer.movedAt = answer.beganAt;
    if (isOver) share.leave();
    else this.#open.add(answer);
    return answer;
  }

  /** A piece is asked for, so what was given before is taken. */
  moved(answer: OpenAnswer, taken: number): void {
    answer.movedAt = this.#monotonic();
    answer.taken += taken;
  }

  /** End who has taken nothing for long, and, while others wait for room, the slowest. */
  look(): void {
    const now = this.#monotonic();
    for (const { movedAt, raw } of this.#open) if (now - movedAt >= this.#limits.stallMs) raw.destroy();
    if (this.#waiting > 0) this.#endSlowest(now);
  }

  #endSlowest(now: number): void {
    let slowest: { raw: ServerResponse; rate: number } | null = null;
    for (const { raw, beganAt, taken } of this.#open) {
      const age = now - beganAt;
      const rate = taken / age;
      if (age >= this.#limits.graceMs && !raw.destroyed && (slowest === null || rate < slowest.rate)) {
        slowest = { raw, rate };
      }
    }
    slowest?.raw.destroy();
  }

  async #wait(room: Promise<void>, held: number, patience: AbortController): Promise<void> {
    const waits = Math.min(held, this.#limits.held);
    if (this.#waiting + waits > this.#limits.waiting) patience.abort(noRoom());
    this.#waiting += waits;
    const timer = setTimeout(() => patience.abort(noRoom()), this.#limits.waitMs);
    this.#endSlowest(this.#monotonic());
    try {
      await room;
    } finally {
      clearTimeout(timer);
      this.#waiting -= waits;
    }
  }
}

const noRoom = () =>
  new DomainError('overloaded', 'too much is being sent to clients that take it slowly', { retryAfterS });

/** Have every answer take room, and be written as it is taken. */
export function boundAnswers(app: FastifyInstance, share: LoopShare, answers = new UntakenAnswers()): void {
  const looking = setInterval(() => answers.look(), lookEveryMs);
  looking.unref();
  app.addHook('onClose', async () => clearInterval(looking));

  app.addHook('onSend', async (_request, { raw }, payload) => {
    const held = payload instanceof LargeJson ? payload.held : lengthOf(payload);
    if (held < uncounted) return payload;
    const answer = await answers.open(raw, held);
    if (payload instanceof LargeJson) {
      const pieces = payload.pieces(share);
      const first = await pieces.next();
      // What fails in its first rows is still answered as an error, and a short list has its length.
      if (first.done || first.value.length < pieceLength) return first.value ?? '';
      return writtenAsTaken(answers, answer, first.value, pieces);
    }
    if (typeof payload === 'string' && held > pieceLength)
      return writtenAsTaken(answers, answer, '', slicesOf(payload));
    return payload;
  });
}

/** Of a text or its bytes; 0 of streams. */
function lengthOf(payload: unknown): number {
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
}

function writtenAsTaken(
  answers: UntakenAnswers,
  answer: OpenAnswer,
  first: string,
  pieces: AsyncIterable<string> | Iterable<string>,
): Readable {
  const watched = async function* () {
    if (first !== '') yield first;
    answers.moved(answer, first.length);
    for await (const piece of pieces) {
      yield piece;
      answers.moved(answer, piece.length);
    }
  };
  return Readable.from(watched());
}
