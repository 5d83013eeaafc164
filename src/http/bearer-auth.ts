/**
 * Bearer tokens: who is asking and what may they do (contract "Authentication"). Tokens are kept and compared as SHA-256 digests
 * in constant time, every one of them each time, so that neither content nor length nor position can be timed.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthToken, RouteScope, Scope } from '../domain/access.ts';

export interface TokenHolder {
  name: string;
  /** Whose pages it may see. */
  library: string;
  /** Effective ones: write implies read. */
  scopes: Scope[];
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The token of the request's only Authorization header, or null: two headers are a contradiction, not a choice. */
export function bearerToken(request: IncomingMessage): string | null {
  const { rawHeaders } = request;
  let found: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i].length !== 13 || rawHeaders[i].toLowerCase() !== 'authorization') continue;
    if (found !== null) return null;
    found = rawHeaders[i + 1];
  }
  return found === null ? null : (/^bearer +(\S.*)$/i.exec(found)?.[1] ?? null);
}

/** A function from a presented token to its holder, or null where nobody holds it; `tokens` is asked each time for those that hold. */
export function tokenVerifier(tokens: () => readonly AuthToken[]): (token: string) => TokenHolder | null {
  let list: readonly AuthToken[] = [];
  let known: { expected: Buffer; holder: TokenHolder }[] = [];
  return (token) => {
    const now = tokens();
    if (now !== list) {
      list = now;
      known = now.map(knownToken);
    }
    const presented = digest(token);
    let found: TokenHolder | null = null;
    for (const { expected, holder } of known) {
      if (timingSafeEqual(presented, expected) && found === null) found = holder;
    }
    return found;
  };
}

function knownToken({ name, library, token, scopes }: AuthToken): { expected: Buffer; holder: TokenHolder } {
  return {
    expected: digest(token),
    holder: { name, library, scopes: scopes.includes('write') ? ['read', 'write'] : [...scopes] },
  };
}

export const mayCall = (holder: TokenHolder, scope: RouteScope): boolean =>
  scope === 'public' || holder.scopes.includes(scope);
