import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { defaultSettings, readSettings } from '../../extension/src/settings.ts';

/** What lies in the storage of the extension. */
let kept: unknown;
before(() => {
  Object.assign(globalThis, { chrome: { storage: { local: { get: async () => ({ settings: kept }) } } } });
});

test('what another version wrote takes nothing of what is known with it', async () => {
  const known = { pausedUntil: 'forever', sites: { 'diary.example.org': 'off' }, activeSeconds: 20 } as const;
  kept = { ...known, newOption: 1, scrollShare: 'half', engines: ['an engine of another version'] };
  assert.deepEqual(await readSettings(), { ...defaultSettings, ...known });
});

test('without settings, and with what is none, the defaults hold', async () => {
  for (kept of [undefined, null, 'none', 7, []]) assert.deepEqual(await readSettings(), defaultSettings);
});
