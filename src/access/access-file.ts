/**
 * `access.json` of the data folder: tokens and sessions that were made at runtime, as digests. Read once, at the start; replaced as a whole,
 * by the process that has the folder's lock. Who may do what with it: docs/access.md.
 */
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { libraryName, scopeName } from '../domain/access.ts';
import { errorCode } from '../domain/error-code.ts';
import { replaceText } from '../files/durable-file.ts';

/** SHA-256 of a secret, hexadecimal. */
const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** Ms since the epoch. */
const instant = z.int();

const keptToken = z.strictObject({
  id: z.string(),
  library: libraryName,
  name: z.string(),
  digest,
  scopes: z.array(scopeName).min(1),
  source: z.enum(['created', 'paired']),
  /** Of the extension that was paired. */
  origin: z.string().nullable(),
  created_at: instant,
  last_used_at: instant.nullable(),
});
export type KeptToken = z.infer<typeof keptToken>;

const keptSession = z.strictObject({
  id: z.string(),
  library: libraryName,
  /** Of the token that it came from. */
  name: z.string(),
  digest,
  /** Digest of that token. */
  issuer: digest,
  scopes: z.array(scopeName).min(1),
  created_at: instant,
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
  /** What it had at the start; null where there was none. */
  records: AccessRecords | null;
  /** `library`: whose change somebody waits for; null for none's. Errors: those of the file system, of where that library's are kept. */
  save(records: AccessRecords, library: string | null): Promise<void>;
  /** Have other hosts know which library a code is of, by its digest, for so many ms. */
  shareCode?(library: string, digest: string, validMs: number): Promise<void>;
}

/**
 * The file of a folder. One that cannot be understood is put aside, and is none: whoever it let in has to come in anew.
 * Errors: those of the file system but ENOENT.
 */
export function openAccessFile(dataDir: string, log: { error(fields: object, message: string): void }): AccessFile {
  const path = join(dataDir, 'access.json');
  const save = (records: AccessRecords) => replaceText(path, `${JSON.stringify(records)}\n`);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { records: null, save };
    throw error;
  }
  try {
    return { records: keptRecords.parse(JSON.parse(text)), save };
  } catch {
    // Neither the parser's message, which quotes the file, nor the schema's helps.
    const kept = `${path}.damaged`;
    renameSync(path, kept);
    log.error({ kept }, 'access.json cannot be understood: sessions and tokens made at runtime have to be made again');
    return { records: { format: 1, tokens: [], sessions: [] }, save };
  }
}
