import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { renderApi } from '../../scripts/render-api.ts';
import { renderCommandLine } from '../../scripts/render-command-line.ts';
import { renderSettings } from '../../scripts/render-settings.ts';

for (const [name, render, line] of [
  ['api', renderApi, /^## Errors$/m],
  ['settings', renderSettings, /bind_port/],
  ['command-line', renderCommandLine, /^readback token new$/m],
] as const)
  test(`docs/${name}.md is what the sources make of it`, async () => {
    const written = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
    assert.equal(written, await render(written), 'run: npm run docs');
    assert.match(written, line);
  });
