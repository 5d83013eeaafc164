/** One-time codes, in memory. A link's code is too long to guess. Typed codes are short, so wrong tries are limited. */
import { createHash } from 'node:crypto';
import type { CodePurpose, Scope } from '../domain/access.ts';
import { DomainError } from '../domain/errors.ts';

export interface Grant {
  library: string;
  name: string;
  issuer: string;
  scopes: Scope[];
}

interface Issued {
  purpose: CodePurpose;
  grant: Grant;
  expiresAt: number;
}

export interface CodeSources {
  now: () => number;
  randomBytes: (count: number) => Buffer;
}

/** A link is opened at once; a code must be typed into another browser or device. */
const codeLifetimesMs: Readonly<Record<CodePurpose, number>> = { session: 60_000, pair: 600_000 };
/** Max codes per library and purpose. */
const maxCodes = 20;
/** Max wrong typed codes per minute: with 20 valid codes of 40 bits, a guess succeeds once in 3,000 years. */
const maxWrong = 30;
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

function asIssued(typed: string): string {
  const plain = typed.toUpperCase().replace(/[\s-]/g, '').replace(/[IL]/g, '1').replaceAll('O', '0');
  return `${plain.slice(0, 4)}-${plain.slice(4)}`;
}

export const codeDigest = (purpose: CodePurpose, code: string): string =>
  createHash('sha256')
    .update(`${purpose}\n${purpose === 'pair' ? asIssued(code) : code}`)
    .digest('base64');

export class OneTimeCodes {
  readonly #sources: CodeSources;
  /** By digest, so that the time of a look-up reveals nothing. Oldest first. */
  readonly #issued = new Map<string, Issued>();
  #wrong: number[] = [];

  constructor(sources: CodeSources) {
    this.#sources = sources;
  }

  /** Errors: DomainError `overloaded` at the maximum number. */
  issue(purpose: CodePurpose, grant: Grant): { code: string; expiresAt: number } {
    const now = this.#sources.now();
    this.#dropExpired(now);
    const others = [...this.#issued.values()].filter(
      (each) => each.purpose === purpose && each.grant.library === grant.library,
    );
    if (others.length >= maxCodes) {
      const retryAfterS = (others[0].expiresAt - now) / 1000;
      throw new DomainError('overloaded', `${maxCodes} codes are in use: wait for one to expire`, { retryAfterS });
    }
    const bytes = this.#sources.randomBytes(32);
    const code = purpose === 'pair' ? typedCode(bytes) : bytes.toString('base64url');
    const expiresAt = now + codeLifetimesMs[purpose];
    this.#issued.set(codeDigest(purpose, code), { purpose, grant, expiresAt });
    return { code, expiresAt };
  }

  /** Null for a wrong, used or expired code. Errors: DomainError `rate_limited` after too many wrong tries. */
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

  /** The grant of a link's code, without using the code; null for a wrong code. */
  look(code: string): Grant | null {
    this.#dropExpired(this.#sources.now());
    return this.#issued.get(codeDigest('session', code))?.grant ?? null;
  }

  /** Errors: DomainError `rate_limited` after too many wrong tries. */
  refuseGuessing(purpose: CodePurpose): void {
    if (purpose !== 'pair') return;
    const now = this.#sources.now();
    this.#wrong = this.#wrong.filter((at) => now - at < wrongWithinMs);
    if (this.#wrong.length < maxWrong) return;
    const retryAfterS = (this.#wrong[0] + wrongWithinMs - now) / 1000;
    throw new DomainError('rate_limited', 'too many wrong codes: try again in a minute', { retryAfterS });
  }

  #dropExpired(now: number): void {
    for (const [key, { expiresAt }] of this.#issued) if (now >= expiresAt) this.#issued.delete(key);
  }
}
