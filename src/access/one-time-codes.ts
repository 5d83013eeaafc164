/**
 * One-time codes: in memory only, 60 s, one use. A code for a link is too long to guess; one that a person types is short, so wrong ones are counted.
 * States: issued → taken, or over its time; both are forgotten.
 */
import { createHash } from 'node:crypto';
import type { CodePurpose, Scope } from '../domain/access.ts';
import { DomainError } from '../domain/errors.ts';

/** What a code lets its bearer have. */
export interface Grant {
  library: string;
  /** Of the token that it came from. */
  name: string;
  /** Digest of that token. */
  issuer: string;
  scopes: Scope[];
}

interface Issued {
  grant: Grant;
  /** Ms since the epoch. */
  expiresAt: number;
}

export interface CodeSources {
  /** Ms since the epoch. */
  now: () => number;
  randomBytes: (count: number) => Buffer;
}

const lifetimeMs = 60_000;
/** At once, of a library. */
const mostCodes = 20;
/** Wrong codes to type in one minute; with 20 right ones of 40 bits a guess succeeds once in three thousand years. */
const mostWrong = 30;
const wrongWithinMs = 60_000;

/** Crockford's base 32: no letter looks like a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `XXXX-XXXX` from at least five bytes. */
function typedCode(bytes: Buffer): string {
  let bits = bytes.readUIntBE(0, 5);
  let text = '';
  for (let at = 0; at < 8; at++) {
    text = alphabet[bits % 32] + text;
    bits = Math.floor(bits / 32);
  }
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

/** As it was issued, however it was typed. */
function asIssued(typed: string): string {
  const plain = typed.toUpperCase().replace(/[\s-]/g, '').replace(/[IL]/g, '1').replaceAll('O', '0');
  return `${plain.slice(0, 4)}-${plain.slice(4)}`;
}

/** What is kept of a code. */
export const codeDigest = (purpose: CodePurpose, code: string): string =>
  createHash('sha256')
    .update(`${purpose}\n${purpose === 'pair' ? asIssued(code) : code}`)
    .digest('base64');

export class OneTimeCodes {
  readonly #sources: CodeSources;
  /** By the digest of the code, so that a comparison tells nothing of it. Oldest first. */
  readonly #issued = new Map<string, Issued>();
  /** When wrong codes were typed, ms. */
  #wrong: number[] = [];

  constructor(sources: CodeSources) {
    this.#sources = sources;
  }

  /** Errors: DomainError `overloaded` when the library has as many as it may have. */
  issue(purpose: CodePurpose, grant: Grant): { code: string; expiresAt: number } {
    const now = this.#sources.now();
    this.#dropExpired(now);
    const others = [...this.#issued.values()].filter((each) => each.grant.library === grant.library);
    if (others.length >= mostCodes) {
      const retryAfterS = (others[0].expiresAt - now) / 1000;
      throw new DomainError('overloaded', `${mostCodes} codes are in use: wait for one to expire`, { retryAfterS });
    }
    const bytes = this.#sources.randomBytes(32);
    const code = purpose === 'pair' ? typedCode(bytes) : bytes.toString('base64url');
    const expiresAt = now + lifetimeMs;
    this.#issued.set(codeDigest(purpose, code), { grant, expiresAt });
    return { code, expiresAt };
  }

  /** Use a code up; null for one that is wrong, used or over its time. Errors: DomainError `rate_limited` after too many wrong ones to type. */
  take(purpose: CodePurpose, code: string): Grant | null {
    const now = this.#sources.now();
    this.#dropExpired(now);
    this.refuseGuessing(purpose);
    const key = codeDigest(purpose, code);
    const found = this.#issued.get(key);
    this.#issued.delete(key);
    if (found === undefined && purpose === 'pair') this.#wrong.push(now);
    return found?.grant ?? null;
  }

  /** Errors: DomainError `rate_limited` after too many wrong ones to type. */
  refuseGuessing(purpose: CodePurpose): void {
    if (purpose !== 'pair') return;
    const now = this.#sources.now();
    this.#wrong = this.#wrong.filter((at) => now - at < wrongWithinMs);
    if (this.#wrong.length < mostWrong) return;
    const retryAfterS = (this.#wrong[0] + wrongWithinMs - now) / 1000;
    throw new DomainError('rate_limited', 'too many wrong codes: try again in a minute', { retryAfterS });
  }

  #dropExpired(now: number): void {
    for (const [key, { expiresAt }] of this.#issued) if (now >= expiresAt) this.#issued.delete(key);
  }
}
