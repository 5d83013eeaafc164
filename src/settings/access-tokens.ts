/**
 * The tokens that the service accepts: the configured ones, or, when there is none, one that the first start makes and keeps in
 * the data folder, readable by its owner only. Contract "Authentication"; design "no token configured".
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuthToken } from '../domain/access.ts';
import { errorCode } from '../domain/error-code.ts';

export interface AccessTokens {
  tokens: readonly AuthToken[];
  /** Where the generated token is, when no token is configured. */
  generatedAt: string | null;
}

export function accessTokens(configured: readonly AuthToken[], dataDir: string, newToken: () => string): AccessTokens {
  if (configured.length > 0) return { tokens: configured, generatedAt: null };
  const path = join(dataDir, 'token');
  return {
    tokens: [{ name: 'default', token: readOrMake(path, newToken), scopes: ['read', 'write'] }],
    generatedAt: path,
  };
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
