/** Stands in for a program that the service calls: a script of that name in a folder of its own, to be found like the real one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Scope, temporaryFolder } from '../scope.ts';

/**
 * Gives a search path with the script first. `script` is JavaScript with `args` (its arguments), `input` (its standard input, a text) and
 * `fs`, and may wait.
 */
export function fakeProgram(scope: Scope, name: string, script: string): string {
  const dir = temporaryFolder(scope);
  const frame = `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2);
const input = fs.readFileSync(0, 'utf8');
(async () => { ${script} })();
`;
  writeFileSync(join(dir, name), frame, { mode: 0o755 });
  return `${dir}:/usr/bin:/bin`;
}
