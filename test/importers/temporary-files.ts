/** Files of a test, in a folder that goes with it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Scope {
  after(cleanUp: () => void): void;
}

export function temporaryFolder(scope: Scope): string {
  const dir = mkdtempSync(join(tmpdir(), 'readback-import-'));
  scope.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
