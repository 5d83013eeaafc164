import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderCommandLine } from '../../scripts/render-command-line.ts';

test('docs/command-line.md has the help text of every command', () => {
  const written = readFileSync(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
  const command = 'npm run docs';
  assert.equal(written, renderCommandLine(written), `run: ${command}`);
  assert.match(written, /^readback token new$/m);
});
