/**
 * The accepted tokens: the configured ones, or one that the first start generates in the data folder, readable by its
 * owner only. Contract "Authentication"; design "no token configured".
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuthToken, defaultLibrary } from '../domain/access.ts';
import { errorCode } from '../domain/errors.ts';

export interface AccessTokensOptions {
  configured: readonly AuthToken[];
  dataDir: string;
  newToken: () => string;
  monotonic: () => number;
}

/** The file is checked at most this often, ms: unauthorized requests must not keep the disk busy. */
const lookEveryMs = 100;

/**
 * `tokens`: the current ones, as the generated token may be replaced at any time (`readback token new`). `generatedAt`: path of the
 * generated token, if none is configured.
 */
export function accessTokens({ configured, dataDir, newToken, monotonic }: AccessTokensOptions): {
  tokens: () => readonly AuthToken[];
  generatedAt: string | null;
} {
  if (configured.length > 0) return { tokens: () => configured, generatedAt: null };
  const path = join(dataDir, 'token');
  const listOf = (token: string): AuthToken[] => [
    { name: 'default', library: defaultLibrary, token, scopes: ['read', 'write'] },
  ];
  let held = listOf(readOrMake(path, newToken));
  let lookedAt = monotonic();
  const tokens = () => {
    if (monotonic() - lookedAt < lookEveryMs) return held;
    lookedAt = monotonic();
    const token = kept(path);
    if (token !== null && token !== held[0].token) held = listOf(token);
    return held;
  };
  return { tokens, generatedAt: path };
}

function kept(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    // The current token stays valid.
    return null;
  }
}

function readOrMake(path: string, newToken: () => string): string {
  try {
    const kept = readFileSync(path, 'utf8').trim();
    if (kept !== '') return kept;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  const token = newToken();
  writeFileSync(path, `${token}\n`, { mode: 0o600 });
  return token;
}
