import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderApi } from '../../scripts/render-api.ts';

test('docs/api.md says what the server says of itself', async () => {
  const written = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  assert.equal(written, await renderApi(), 'run: npm run docs');
});
