/** What tests of access stand on: a clock turned by hand, tokens that can be exchanged, a file in memory or a real one. */
import { Access } from '../../src/access/access.ts';
import type { AccessFile, AccessRecords } from '../../src/access/access-file.ts';
import type { AuthToken, Scope } from '../../src/domain/access.ts';

export const operator = 'operator-token-0123456789';

export const tokenOf = (library: string, token: string, scopes: Scope[] = ['read', 'write']): AuthToken => ({
  name: 'laptop',
  library,
  token,
  scopes,
});

/** A file that fails when it is told to. */
export class MemoryFile implements AccessFile {
  records: AccessRecords | null = null;
  /** What the next process would read. */
  saved: AccessRecords | null = null;
  saves = 0;
  isFull = false;

  async save(records: AccessRecords): Promise<void> {
    if (this.isFull) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    this.saves++;
    this.saved = structuredClone(records);
  }
}

export class MadeAccess {
  nowMs = Date.parse('2026-01-02T03:04:05Z');
  tokens: AuthToken[] = [tokenOf('default', operator)];
  file: AccessFile;
  readonly lines: object[] = [];

  constructor(file: AccessFile = new MemoryFile()) {
    this.file = file;
  }

  /** As a process that starts now would have it. */
  start(libraries: readonly string[] = ['default', 'anna', 'ben']): Access {
    return new Access({
      operatorTokens: () => this.tokens,
      libraries: new Set(libraries),
      file: this.file,
      log: { warn: (fields) => this.lines.push(fields) },
      now: () => this.nowMs,
    });
  }
}

/** What a token is made with. */
export const phone = { name: 'phone', scopes: undefined, source: 'created', origin: null } as const;

/** A process that has started, and who asks it. */
export function opened(made = new MadeAccess()) {
  const access = made.start();
  return { made, access, by: holderOf(access, operator) };
}

/** The holder of a token that holds. */
export function holderOf(access: Access, token: string) {
  const holder = access.holderOfToken(token);
  if (holder === null) throw new Error('the token does not hold');
  return holder;
}

/** A session that was opened with a token; gives its secret. */
export async function signIn(access: Access, token: string): Promise<string> {
  const { secret } = await access.openSession(holderOf(access, token), { userAgent: 'test', replaces: null });
  return secret;
}
