import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderSettings } from '../../scripts/render-settings.ts';

test('docs/settings.md says what the schemas say', () => {
  const written = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  assert.equal(written, renderSettings(), 'run: npm run docs');
});
