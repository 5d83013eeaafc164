/** `access.json`: digests of runtime tokens and sessions (docs/access.md). Written under the folder's lock. */

import { readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { libraryName, scopeName } from '../domain/access.ts';
import { replaceText } from '../files/durable-file.ts';

/** SHA-256 of a secret, hexadecimal. */
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const instant = z.int();

const kept = {
  id: z.string(),
  library: libraryName,
  name: z.string(),
  digest,
  scopes: z.array(scopeName).min(1),
  created_at: instant,
};

const keptToken = z.strictObject({
  ...kept,
  source: z.enum(['created', 'paired']),
  origin: z.string().nullable(),
  last_used_at: instant.nullable(),
});
export type KeptToken = z.infer<typeof keptToken>;

const keptSession = z.strictObject({
  ...kept,
  issuer: digest,
  last_used_at: instant,
  user_agent: z.string().nullable(),
});
export type KeptSession = z.infer<typeof keptSession>;

export const keptRecords = z.strictObject({
  format: z.literal(1),
  tokens: z.array(keptToken),
  sessions: z.array(keptSession),
});
export type AccessRecords = z.infer<typeof keptRecords>;

export interface AccessFile {
  records: AccessRecords | null;
  /** `library`: whose change the caller waits for; null: none. Errors: of the file system and the library's storage. */
  save(records: AccessRecords, library: string | null): Promise<void>;
  /** Let other hosts find the library by a code's digest, for this number of ms. */
  shareCode?(library: string, digest: string, validMs: number): Promise<void>;
}

/** A damaged file is set aside, as if missing: clients must sign in again. Errors: of the file system, not ENOENT. */
export function openAccessFile(dataDir: string, log: { error(fields: object, message: string): void }): AccessFile {
  const path = join(dataDir, 'access.json');
  const save = (records: AccessRecords) => replaceText(path, `${JSON.stringify(records)}\n`);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return { records: null, save };
  const text = readFileSync(path, 'utf8');
  try {
    return { records: keptRecords.parse(JSON.parse(text)), save };
  } catch {
    // The parser's message quotes the file, and the schema's message does not help.
    const kept = `${path}.damaged`;
    renameSync(path, kept);
    log.error({ kept }, 'access.json is damaged: sign in again, and create tokens made at runtime again');
    return { records: { format: 1, tokens: [], sessions: [] }, save };
  }
}
