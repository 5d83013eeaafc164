import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedVariables, readSettings } from '../../src/settings/read-settings.ts';
import { shownSettings } from '../../src/settings/shown-settings.ts';

test('every setting is shown with its value, and no secret, wherever it stands', () => {
  const settings = readSettings({
    SERVICE_AUTH_TOKEN: 'canary-token-one',
    SERVICE_AUTH_TOKENS: '[{"name":"phone","token":"canary-token-two","scopes":["read"]}]',
    SERVICE_EMBEDDER__API_KEY: 'canary-key',
    SERVICE_LLM__BASE_URL: 'http://canary-user:canary-password@llm.test/v1',
    SERVICE_PROVIDERS__SHOP__BASE_URL: 'http://shop.test',
    SERVICE_PROVIDERS__OTHER__BASE_URL: 'http://other.test/v1?v=1&key=canary%2Dother#canary',
    SERVICE_EMBEDDER__BASE_URL: 'http://embedder.test?canary',
    SERVICE_RERANKER__BASE_URL: 'http://canary@reranker.test?key=canary',
    SERVICE_OBSERVABILITY__OTLP_ENDPOINT: 'http://collector.test/v1/traces?api-key=canary',
    SERVICE_CLUSTER__ADDRESS: 'http://canary:x@host.test:8000/?key=canary',
    SERVICE_PROVIDERS__SHOP__API_KEY: 'canary-shop',
    SERVICE_TRANSCRIBE__COMMAND:
      'transcribe --key canary-key --other canary-other --at http://canary-user:other@x.test?sig=canary',
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
  const command = at('transcribe.command');
  assert.equal(command, 'transcribe --key [redacted] --other [redacted] --at http://[redacted]@x.test?[redacted]');
  assert.equal(at('embedder.base_url'), 'http://embedder.test/');
  assert.equal(at('observability.otlp_endpoint'), 'http://collector.test/v1/traces');
  assert.equal(at('providers.other.base_url'), 'http://other.test/v1');
  for (const { path } of fixedVariables) {
    assert.notEqual(at(path.join('.')), undefined, path.join('.'));
    assert.equal(shown.mutability[path.join('.')], 'boot_only');
  }
  assert.equal(shown.mutability['providers.shop.base_url'], 'boot_only');
});
