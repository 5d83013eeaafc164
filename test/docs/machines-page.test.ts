import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderMachines } from '../../scripts/render-machines.ts';

test('docs/machines.md says what the machines do', () => {
  const written = readFileSync(new URL('../../docs/machines.md', import.meta.url), 'utf8');
  const command = 'npm run docs';
  assert.equal(written, renderMachines(), `run: ${command}`);
});
