import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedVariables } from '../../src/settings/environment.ts';
import { readSettings } from '../../src/settings/read-settings.ts';
import { shownSettings } from '../../src/settings/shown-settings.ts';

test('every setting is shown with its value, and no secret, wherever it stands', () => {
  const settings = readSettings({
    SERVICE_AUTH_TOKEN: 'canary-token-one',
    SERVICE_AUTH_TOKENS: '[{"name":"phone","token":"canary-token-two","scopes":["read"]}]',
    SERVICE_EMBEDDER__API_KEY: 'canary-key',
    SERVICE_LLM__BASE_URL: 'http://canary-user:canary-password@llm.test/v1',
    SERVICE_PROVIDERS__SHOP__BASE_URL: 'http://shop.test',
    SERVICE_PROVIDERS__SHOP__API_KEY: 'canary-shop',
    SERVICE_TRANSCRIBE__COMMAND: 'transcribe --key canary-key --at http://canary-user:other@x.test',
    SERVICE_JOBS__MAX_ATTEMPTS: '7',
  });
  const shown = shownSettings(settings, 'default');
  assert.ok(!JSON.stringify(shown).includes('canary'), JSON.stringify(shown));
  const at = (name: string) =>
    name.split('.').reduce((value: unknown, key) => (value as Record<string, unknown>)[key], shown.settings);
  assert.equal(at('jobs.max_attempts'), 7);
  assert.equal(at('embedder.api_key'), '[redacted]');
  assert.equal(at('reranker.api_key'), null);
  assert.equal(at('llm.base_url'), 'http://llm.test/v1');
  assert.equal(at('providers.shop.api_key'), '[redacted]');
  assert.equal(at('transcribe.command'), 'transcribe --key [redacted] --at http://[redacted]@x.test');
  for (const { path } of fixedVariables) {
    assert.notEqual(at(path.join('.')), undefined, path.join('.'));
    assert.equal(shown.mutability[path.join('.')], 'boot_only');
  }
  assert.equal(shown.mutability['providers.shop.base_url'], 'boot_only');
});
