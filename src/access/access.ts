/**
 * Decides which credentials are valid; src/http/admission.ts decides what they may do. docs/access.md is for users.
 *
 * - Secrets are compared as SHA-256 digests, all tokens each time, and shown once. Scopes never exceed the creator's.
 * - A session ends with its token. Its value is always generated here, never taken from a browser.
 * - Revocation works from the next request on: memory changes before the file. Changes are written before the answer;
 *   if that fails (503), nothing new is created, and what was revoked stays revoked.
 * - A code works once, for its purpose. Typed codes have 40 random bits.
 *
 * A **holder** is the sender of a valid credential, made for each request; `holds` checks it again later.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthToken, CodePurpose, Scope, SessionResponse, TokenResponse } from '../domain/access.ts';
import { DomainError, errorMessage, unknownId } from '../domain/errors.ts';
import { isoOf } from '../domain/values.ts';
import type { AccessFile, AccessRecords, KeptSession, KeptToken } from './access-file.ts';
import { codeDigest, type Grant, OneTimeCodes } from './one-time-codes.ts';

export interface Holder {
  id: string;
  kind: 'token' | 'session';
  /** Name of the token, or of the session's token. */
  name: string;
  library: string;
  scopes: Scope[];
  /** Digest of the credential. */
  credential: string;
  /** Digest of the token, or of the session's token. */
  issuer: string;
}

export interface AccessOptions {
  /** Configured or generated tokens. Read each time, because the generated one may be replaced. */
  operatorTokens: () => readonly AuthToken[];
  /** Names of served libraries. Records of other libraries are invalid. */
  libraries: ReadonlySet<string>;
  file: AccessFile;
  log: { warn(fields: object, message: string): void };
  now?: () => number;
}

/** A session ends after this time without use, ms. */
export const sessionIdleMs = 30 * 24 * 3600 * 1000;
/** Max per library. Above it tokens are refused, and the least recently used session ends. */
const maxTokens = 100;
const maxSessions = 100;
/** Min time between two writes of last uses, ms. */
const useSavedEveryMs = 10 * 60 * 1000;
/** Retry of a failed write, ms. */
const saveAgainAfterMs = 5_000;
const maxUserAgentLength = 200;

interface KnownToken {
  digest: Buffer;
  holder: Holder;
  kept: KeptToken | null;
}

const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
export const hexOf = (secret: string): string => digestOf(secret).toString('hex');
const newSecret = (): string => randomBytes(32).toString('base64url');
const newId = (prefix: string): string => `${prefix}_${randomBytes(8).toString('hex')}`;

const effective = (scopes: readonly Scope[]): Scope[] => (scopes.includes('write') ? ['read', 'write'] : ['read']);
const granted = (wanted: readonly Scope[] | undefined, own: readonly Scope[]): Scope[] =>
  effective(wanted ?? own).filter((each) => own.includes(each));

export class Access {
  readonly #options: AccessOptions;
  readonly #now: () => number;
  readonly #codes: OneTimeCodes;
  #tokens: KeptToken[];
  #sessions: KeptSession[];
  #known: KnownToken[] = [];
  #knownOf: { operator: readonly AuthToken[] | null; kept: KeptToken[] | null } = { operator: null, kept: null };
  /** Last use of operator tokens by digest, ms. */
  readonly #operatorUse = new Map<string, number>();
  readonly #revoked = new Set<() => void>();
  #saving: Promise<void> = Promise.resolve();
  #useSavedAt: number;
  #hasUnsavedUse = false;
  /** Libraries with unwritten changes, which a restart would undo. */
  readonly #behind = new Set<string>();
  #savingAgain: NodeJS.Timeout | undefined;

  constructor(options: AccessOptions) {
    const { records } = options.file;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#codes = new OneTimeCodes({ now: this.#now, randomBytes });
    this.#tokens = records?.tokens ?? [];
    this.#sessions = records?.sessions ?? [];
    this.#useSavedAt = this.#now();
  }

  get isUnused(): boolean {
    return this.#options.file.records === null && this.#tokens.length === 0 && this.#sessions.length === 0;
  }

  /** Null if unknown. All are compared, in constant time. */
  holderOfToken(secret: string): Holder | null {
    const presented = digestOf(secret);
    let found: KnownToken | null = null;
    for (const each of this.#knownTokens()) {
      if (timingSafeEqual(presented, each.digest) && found === null) found = each;
    }
    if (found === null) return null;
    const { holder, kept } = found;
    if (kept === null) this.#operatorUse.set(holder.credential, this.#now());
    else this.#used(kept);
    return holder;
  }

  holderOfSession(secret: string): Holder | null {
    const session = this.#liveSession(hexOf(secret));
    if (session === null) return null;
    this.#used(session);
    const { id, name, library, scopes, digest, issuer } = session;
    return { id, kind: 'session', name, library, scopes: [...scopes], credential: digest, issuer };
  }

  holds({ kind, credential }: Holder): boolean {
    return kind === 'token' ? this.#isToken(credential) : this.#liveSession(credential) !== null;
  }

  /** The listener is called on every revocation. Returns a function that removes it. */
  onRevoked(listener: () => void): () => void {
    this.#revoked.add(listener);
    return () => this.#revoked.delete(listener);
  }

  adopt(library: string, { tokens, sessions }: Pick<AccessRecords, 'tokens' | 'sessions'>): void {
    this.drop(library);
    this.#tokens = [...this.#tokens, ...tokens];
    this.#sessions = [...this.#sessions, ...sessions];
  }

  drop(library: string): void {
    this.#tokens = this.#tokens.filter((each) => each.library !== library);
    this.#sessions = this.#sessions.filter((each) => each.library !== library);
    this.#behind.delete(library);
  }

  /** As `issueCode`, known to every host. Errors: DomainError `overloaded`; those of the storage. */
  async issueSharedCode(
    by: Holder,
    purpose: CodePurpose,
    wanted?: readonly Scope[],
  ): Promise<{ code: string; expires_at: string }> {
    const issued = this.issueCode(by, purpose, wanted);
    const validMs = Date.parse(issued.expires_at) - this.#now();
    await this.#options.file.shareCode?.(by.library, codeDigest(purpose, issued.code), validMs);
    return issued;
  }

  issueCode(by: Holder, purpose: CodePurpose, wanted?: readonly Scope[]): { code: string; expires_at: string } {
    const { library, name, issuer } = by;
    const grant: Grant = { library, name, issuer, scopes: granted(wanted, by.scopes) };
    const { code, expiresAt } = this.#codes.issue(purpose, grant);
    return { code, expires_at: isoOf(expiresAt) };
  }

  /** Call before looking up a code's library. Errors: DomainError `rate_limited` after too many wrong typed codes. */
  refuseGuessing(purpose: CodePurpose): void {
    this.#codes.refuseGuessing(purpose);
  }

  /** The library of a session code; null for a wrong code. */
  libraryOfCode(code: string): string | null {
    return this.#codes.look(code)?.library ?? null;
  }

  /** Use up a code; null for a wrong one, or a revoked token. Errors: DomainError `rate_limited`. */
  redeemCode(purpose: CodePurpose, code: string): Grant | null {
    const grant = this.#codes.take(purpose, code);
    return grant !== null && this.#isToken(grant.issuer) ? grant : null;
  }

  /** Create a session in place of the browser's previous one. Errors: DomainError `store_unavailable`. */
  async openSession(
    { library, name, issuer, scopes }: Grant,
    { userAgent, replaces }: { userAgent: string | undefined; replaces: Holder | null },
  ): Promise<{ secret: string; session: SessionResponse }> {
    const secret = newSecret();
    const now = this.#now();
    const session: KeptSession = {
      id: newId('ss'),
      library,
      name,
      digest: hexOf(secret),
      issuer,
      scopes,
      created_at: now,
      last_used_at: now,
      user_agent: userAgent?.slice(0, maxUserAgentLength) ?? null,
    };
    const others = this.#liveSessionsOf(library).filter(({ id }) => id !== replaces?.id);
    const byUse = others.sort((a, b) => b.last_used_at - a.last_used_at);
    const ended = new Set([...byUse.slice(maxSessions - 1).map(({ id }) => id), replaces?.id]);
    this.#sessions = [...this.#sessions.filter(({ id }) => !ended.has(id)), session];
    this.#tellRevoked();
    await this.#saveOrUndo(library, () => {
      this.#sessions = this.#sessions.filter((each) => each !== session);
    });
    return { secret, session: this.#shownSession(session, session.id) };
  }

  sessionsFor({ library, id }: Holder): SessionResponse[] {
    return this.#liveSessionsOf(library)
      .sort((a, b) => b.created_at - a.created_at)
      .map((session) => this.#shownSession(session, id));
  }

  /** Errors: DomainError `not_found`; `store_unavailable` if it ended but was not written. */
  async endSession({ library }: Holder, sessionId: string): Promise<void> {
    const session = this.#liveSessionsOf(library).find(({ id }) => id === sessionId);
    if (session === undefined) {
      await this.#catchUp(library);
      throw unknownId('session', sessionId);
    }
    this.#sessions = this.#sessions.filter((each) => each !== session);
    this.#tellRevoked();
    await this.#save(library);
  }

  /** Configured tokens first, then the others, oldest first. */
  tokensFor(holder: Holder): TokenResponse[] {
    return this.#knownTokens()
      .filter((each) => each.holder.library === holder.library)
      .map((each) => this.#shownToken(each, holder));
  }

  /** Errors: DomainError `conflict` at the maximum number, `store_unavailable`. */
  async createToken(
    { library, scopes: own }: Pick<Holder, 'library' | 'scopes'>,
    made: { name: string; scopes: readonly Scope[] | undefined; source: 'created' | 'paired'; origin: string | null },
  ): Promise<TokenResponse & { token: string }> {
    if (this.#tokens.filter((each) => each.library === library).length >= maxTokens)
      throw new DomainError('conflict', `there are ${maxTokens} tokens: revoke an unused one`);
    const secret = newSecret();
    const token: KeptToken = {
      id: newId('tk'),
      library,
      name: made.name,
      digest: hexOf(secret),
      scopes: granted(made.scopes, own),
      source: made.source,
      origin: made.origin,
      created_at: this.#now(),
      last_used_at: null,
    };
    this.#tokens = [...this.#tokens, token];
    await this.#saveOrUndo(library, () => {
      this.#tokens = this.#tokens.filter((each) => each !== token);
    });
    return { ...this.#shownToken(knownOf(token), null), token: secret };
  }

  /** Also ends its sessions. Errors: DomainError `not_found`, `conflict` for a configured one, `store_unavailable`. */
  async revokeToken({ library }: Holder, tokenId: string): Promise<void> {
    const found = this.#knownTokens().find(({ holder }) => holder.library === library && holder.id === tokenId);
    if (found === undefined) {
      await this.#catchUp(library);
      throw unknownId('token', tokenId);
    }
    const { kept } = found;
    if (kept === null) throw new DomainError('conflict', 'this token comes from the settings: remove it there');
    this.#tokens = this.#tokens.filter((each) => each !== kept);
    this.#sessions = this.#sessions.filter(({ issuer }) => issuer !== kept.digest);
    this.#tellRevoked();
    await this.#save(library);
  }

  isPairedOrigin(origin: string): boolean {
    return this.#knownTokens().some(({ kept }) => kept?.source === 'paired' && kept.origin === origin);
  }

  async flush(): Promise<void> {
    if (this.#hasUnsavedUse || this.#behind.size > 0) await this.#saveUse();
    await this.#saving.catch(() => {}); // `#save` reports it to the caller
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.#savingAgain);
  }

  #knownTokens(): readonly KnownToken[] {
    const operator = this.#options.operatorTokens();
    if (operator !== this.#knownOf.operator || this.#tokens !== this.#knownOf.kept) {
      const kept = this.#tokens.filter(({ library }) => this.#options.libraries.has(library));
      this.#known = [...operator.map(operatorToken), ...kept.map(knownOf)];
      this.#knownOf = { operator, kept: this.#tokens };
    }
    return this.#known;
  }

  #isToken(credential: string): boolean {
    return this.#knownTokens().some(({ holder }) => holder.credential === credential);
  }

  #liveSession(digest: string): KeptSession | null {
    const session = this.#sessions.find((each) => each.digest === digest);
    return session !== undefined && this.#isLive(session) ? session : null;
  }

  #liveSessionsOf(library: string): KeptSession[] {
    return this.#sessions.filter((each) => each.library === library && this.#isLive(each));
  }

  #isLive({ last_used_at, issuer }: KeptSession): boolean {
    return this.#now() - last_used_at < sessionIdleMs && this.#isToken(issuer);
  }

  #shownSession(session: KeptSession, currentId: string): SessionResponse {
    const { id, name, library, scopes, created_at, last_used_at, user_agent } = session;
    return {
      id,
      name,
      library,
      scopes: [...scopes],
      created_at: isoOf(created_at),
      last_used_at: isoOf(last_used_at),
      expires_at: isoOf(last_used_at + sessionIdleMs),
      user_agent,
      current: id === currentId,
    };
  }

  #shownToken({ holder, kept }: KnownToken, by: Holder | null): TokenResponse {
    const usedAt = kept === null ? (this.#operatorUse.get(holder.credential) ?? null) : kept.last_used_at;
    return {
      id: holder.id,
      name: holder.name,
      scopes: [...holder.scopes],
      source: kept?.source ?? 'settings',
      origin: kept?.origin ?? null,
      created_at: kept === null ? null : isoOf(kept.created_at),
      last_used_at: usedAt === null ? null : isoOf(usedAt),
      current: by?.credential === holder.credential,
    };
  }

  #used(record: KeptToken | KeptSession): void {
    record.last_used_at = this.#now();
    this.#hasUnsavedUse = true;
    if (this.#now() - this.#useSavedAt >= useSavedEveryMs) void this.#saveUse();
  }

  /** If the time of last use is lost, the request is not refused. */
  async #saveUse(): Promise<void> {
    this.#useSavedAt = this.#now();
    this.#hasUnsavedUse = false;
    await this.#save(null).catch((error) => {
      this.#hasUnsavedUse = true;
      this.#options.log.warn({ err: error }, 'sessions and tokens, and when they were last used, could not be written');
    });
  }

  /** Writes a pending revocation before the credential is reported as unknown. Errors: as of `#save`. */
  async #catchUp(library: string): Promise<void> {
    if (this.#behind.has(library)) await this.#save(library);
  }

  async #saveOrUndo(library: string, undo: () => void): Promise<void> {
    await this.#save(library).catch((error) => {
      undo();
      throw error;
    });
  }

  /** Writes the latest state, one write at a time. Failures are retried. Errors: DomainError `store_unavailable`. */
  #save(library: string | null): Promise<void> {
    const save = async () => {
      // Unknown libraries and tokens may come back, so their records are deleted only by age.
      const now = this.#now();
      this.#sessions = this.#sessions.filter(({ last_used_at }) => now - last_used_at < sessionIdleMs);
      await this.#options.file.save({ format: 1, tokens: this.#tokens, sessions: this.#sessions }, library);
      if (library === null) this.#behind.clear();
      else this.#behind.delete(library);
    };
    this.#saving = this.#saving.then(save, save);
    return this.#saving.catch((cause) => {
      if (library !== null) this.#behind.add(library);
      this.#savingAgain ??= setTimeout(() => {
        this.#savingAgain = undefined;
        if (this.#behind.size > 0) void this.#saveUse();
      }, saveAgainAfterMs).unref();
      throw new DomainError('store_unavailable', `tokens and sessions cannot be written: ${errorMessage(cause)}`, {
        cause,
      });
    });
  }

  #tellRevoked(): void {
    for (const listener of this.#revoked) listener();
  }
}

function operatorToken({ name, library, token, scopes }: AuthToken): KnownToken {
  const holder = holderOf({ id: `settings:${name}`, name, library, scopes: effective(scopes), digest: hexOf(token) });
  return { digest: digestOf(token), holder, kept: null };
}

const knownOf = (kept: KeptToken): KnownToken => ({
  digest: Buffer.from(kept.digest, 'hex'),
  holder: holderOf(kept),
  kept,
});

function holderOf(token: Pick<KeptToken, 'id' | 'name' | 'library' | 'scopes' | 'digest'>): Holder {
  const { id, name, library, scopes, digest } = token;
  return { id, kind: 'token', name, library, scopes: [...scopes], credential: digest, issuer: digest };
}
