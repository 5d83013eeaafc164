import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { presetKeepParams } from '../../src/compute/web/canonical-url.ts';
import { fixedVariables, readSettings, SettingsError, variableName } from '../../src/settings/read-settings.ts';

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readSettings(env);
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    return error.problems;
  }
  return [];
}

test('each type of setting is read from its text', () => {
  const { 'youtube.com/watch': _, ...otherPresets } = presetKeepParams;
  const kept = { ...otherPresets, 'example.com': ['id'], 'youtube.com': ['v'] };
  const rows: [path: string, text: string, value: unknown][] = [
    ['bind_port', '0', 0],
    ['chunking.target_tokens', '32', 32],
    ['resilience.retry_base_delay_s', '2.5e-1', 0.25],
    ['fetch.video_captions', 'False', false],
    ['fetch.audio_transcripts', '0', false],
    ['mcp.enable_mutating_tools', '1', true],
    ['observability.json_logs', 'off', false],
    ['observability.traces', 'console', 'console'],
    ['fetch.allow_private_hosts', '["10.0.0.0/8", "nas.local"]', ['10.0.0.0/8', 'nas.local']],
    ['canonicalize.tracking_params', '[]', []],
    ['canonicalize.keep_params', '{"example.com": ["id"], "youtube.com": ["v"]}', kept],
    ['storage.max_bytes', ' 5000000000 ', 5_000_000_000],
    ['cluster.cron', '*/5 3 * * mon-fri', '*/5 3 * * mon-fri'],
    ['data_dir', '/srv/readback', '/srv/readback'],
  ];
  const settings: object = readSettings(
    Object.fromEntries(rows.map(([path, text]) => [variableName(path.split('.')), text])),
  );
  for (const [path, , value] of rows) {
    const read = path.split('.').reduce<unknown>((part, name) => Reflect.get(part as object, name), settings);
    assert.deepEqual(read, value, path);
  }
});

test('a cron expression that cannot be read, or names no time that comes, is refused by name', () => {
  for (const cron of ['99 3 * * *', '* * * *', 'a b c d e', '0 0 30 2 *', '*/0 * * * *', '5-1 * * * *']) {
    const problem = `SERVICE_CLUSTER__CRON=${JSON.stringify(cron)}: must be five cron fields that match a future time`;
    assert.deepEqual(problemsOf({ SERVICE_CLUSTER__CRON: cron }), [problem]);
  }
  for (const cron of ['0 3 * * *', '*/15 * * * *', '0 9-17 1,15 jan-jun mon']) {
    assert.deepEqual(problemsOf({ SERVICE_CLUSTER__CRON: cron }), []);
  }
});

test('the data folder follows XDG, and a relative XDG folder is ignored', () => {
  const folderFor = (XDG_DATA_HOME: string) => readSettings({ HOME: '/home/reader', XDG_DATA_HOME }).data_dir;
  assert.equal(folderFor('/xdg/data'), '/xdg/data/readback');
  assert.equal(folderFor('relative'), '/home/reader/.local/share/readback');
});

test('an empty variable is an unset one and an unknown one is ignored', () => {
  const blank = Object.fromEntries(fixedVariables.map(({ name }) => [name, '']));
  const odd = {
    SERVICE_NO_SUCH: 'x',
    SERVICE_JOBS__NO_SUCH: 'x',
    SERVICE_PROVIDERS____PROTO____API_KEY: 'x',
    JOBS: '1',
  };
  assert.deepEqual(readSettings({ HOME: '/h', ...blank, ...odd }), readSettings({ HOME: '/h' }));
});

test('tokens are the union of the single one and the named ones, and secrets are only among the secrets', () => {
  const settings = readSettings({
    SERVICE_AUTH_TOKEN: 'canary-one',
    SERVICE_AUTH_TOKENS:
      '[{"name":"phone","token":"canary-two","scopes":["read"]},{"name":"home","token":"canary-three"}]',
    SERVICE_EMBEDDER__PROVIDER: 'acme',
    SERVICE_EMBEDDER__API_KEY: 'canary-four',
    SERVICE_PROVIDERS__ACME__BASE_URL: 'https://user:canary%2Dfive@acme.test/v1?key=canary+seven&v=1#canary',
    SERVICE_PROVIDERS__ACME__API_KEY: 'canary-six',
  });
  const { secrets, ...open } = settings;
  assert.deepEqual(secrets.tokens, [
    { name: 'default', library: 'default', token: 'canary-one', scopes: ['read', 'write'] },
    { name: 'phone', library: 'default', token: 'canary-two', scopes: ['read'] },
    { name: 'home', library: 'default', token: 'canary-three', scopes: ['read', 'write'] },
  ]);
  assert.deepEqual(secrets.embedder, { api_key: 'canary-four', userinfo: null, query: null });
  assert.deepEqual(secrets.providers, {
    acme: { api_key: 'canary-six', userinfo: 'user:canary-five', query: 'key=canary+seven&v=1' },
  });
  assert.deepEqual(open.providers, { acme: { base_url: 'https://acme.test/v1' } });
  assert.ok(!JSON.stringify(open).includes('canary'));
});

test('libraries need tokens, and tokens of a library need its folder', () => {
  const tokens = (library: string) => JSON.stringify([{ name: 'one', token: 'secret', library }]);
  assert.deepEqual(problemsOf({ SERVICE_LIBRARIES__DIR: '/srv', SERVICE_AUTH_TOKENS: tokens('anna') }), []);
  assert.deepEqual(problemsOf({ SERVICE_AUTH_TOKENS: tokens('default') }), []);
  const without = problemsOf({ SERVICE_LIBRARIES__DIR: '/srv' });
  assert.match(without.join(), /needs SERVICE_AUTH_TOKENS, which name the libraries/);
  assert.match(
    problemsOf({ SERVICE_AUTH_TOKENS: tokens('anna') }).join(),
    /the token one belongs to the library anna: set/,
  );
  for (const library of ['../x', '.', 'Anna', 'a/b', '']) {
    const found = problemsOf({ SERVICE_LIBRARIES__DIR: '/srv', SERVICE_AUTH_TOKENS: tokens(library) });
    assert.match(found.join(), /SERVICE_AUTH_TOKENS/, library);
    assert.doesNotMatch(found.join(), /secret"/);
  }
});

test('what is wrong in a list is told by place and field, and never by value', () => {
  const tokens = [
    { name: 'good', token: 'canary' },
    { name: 'canary', token: 'canary', scopes: [] },
    { name: '', token: 7, scopes: ['read', 'canary'] },
    { token: 'canary', canary: true },
    'canary',
  ];
  const [problem, ...others] = problemsOf({ SERVICE_AUTH_TOKENS: JSON.stringify(tokens) });
  assert.deepEqual(others, []);
  const [rule, ...faults] = problem.split('; ');
  assert.match(rule, /^SERVICE_AUTH_TOKENS=\(hidden\): must be a JSON list/);
  assert.deepEqual(faults, [
    '[1].scopes is empty',
    '[2].name is empty',
    '[2].token is of another type',
    '[2].scopes[1] is not one of the allowed values',
    '[3].name is missing',
    '[3] has an unknown field',
    '[4] is of another type',
  ]);
});

test('every fault is reported in one error, each with variable, value and rule', () => {
  const problems = problemsOf({
    SERVICE_BIND_PORT: '70000',
    SERVICE_JOBS__MAX_ATTEMPTS: '0',
    SERVICE_JOBS__LEASE_MINUTES: '1.5',
    SERVICE_JOBS__HANDLER_TIMEOUT_S: '0',
    SERVICE_PDF__REPEATED_LINE_RATIO: '1.1',
    SERVICE_PDF__STRIP_REPEATED_LINES: 'maybe',
    SERVICE_OBSERVABILITY__TRACES: 'loud',
    SERVICE_FETCH__VIDEO_CAPTION_LANGS: 'en,de',
    SERVICE_WATCH__DEFAULT_INTERVAL_HOURS: '8761',
    SERVICE_CHUNKING__TARGET_TOKENS: '600',
    SERVICE_RERANKER__KIND: 'api',
    SERVICE_EMBEDDER__DIM: '150',
    SERVICE_LLM__BASE_URL: 'ftp://user:canary@host/',
    SERVICE_LLM__EXCLUDE: '["*.example.com"]',
    SERVICE_TLS__CERT_FILE: '/etc/tls/cert.pem',
  });
  assert.deepEqual([...problems].sort(), [
    'SERVICE_BIND_PORT="70000": must be a whole number, at least 0, at most 65535',
    'SERVICE_CHUNKING__TARGET_TOKENS=600: must not be above SERVICE_CHUNKING__HARD_MAX_TOKENS, which is 512',
    'SERVICE_FETCH__VIDEO_CAPTION_LANGS="en,de": must be a JSON list of texts',
    'SERVICE_JOBS__HANDLER_TIMEOUT_S="0": must be a number, above 0',
    'SERVICE_JOBS__LEASE_MINUTES="1.5": must be a whole number, at least 1',
    'SERVICE_JOBS__MAX_ATTEMPTS="0": must be a whole number, at least 1',
    'SERVICE_LLM__BASE_URL="(hidden)@host/": must be an http or https address',
    String.raw`SERVICE_LLM__EXCLUDE="[\"*.example.com\"]": must be a JSON list of sites or addresses, such as example.com/private, without *, ?, # and @; [0] is not valid`,
    'SERVICE_OBSERVABILITY__TRACES="loud": must be one of off, console, otlp',
    'SERVICE_PDF__REPEATED_LINE_RATIO="1.1": must be a number, above 0, at most 1',
    'SERVICE_PDF__STRIP_REPEATED_LINES="maybe": must be true or false',
    'SERVICE_RERANKER__BASE_URL: must be set, or SERVICE_PROVIDERS__<NAME>__BASE_URL, for reranker.kind api',
    'SERVICE_TLS__CERT_FILE: must be set together with SERVICE_TLS__KEY_FILE',
    'SERVICE_WATCH__DEFAULT_INTERVAL_HOURS="8761": must be a whole number, at least 1, at most 8760',
  ]);
});

test('of an address that cannot be used no user, password or parameter is told', () => {
  for (const [address, shown] of [
    ['ftp://me:canary@host/', '"(hidden)@host/"'],
    ['ftp://host/?key=canary', '"ftp://host/?(hidden)"'],
    ['ftp://me:canary@host/?key=canary?', '"(hidden)@host/?(hidden)"'],
    ['ftp://me:canary?canary@host/', '(hidden)'],
    ['ftp://host/?key=canary@canary', '(hidden)'],
  ]) {
    const problems = problemsOf({ SERVICE_LLM__BASE_URL: address });
    assert.deepEqual(problems, [`SERVICE_LLM__BASE_URL=${shown}: must be an http or https address`]);
  }
});

test('Ollama needs no address as an embedder, and whoever else is asked needs one, whatever key is set', () => {
  readSettings({ SERVICE_EMBEDDER__PROVIDER: 'ollama' });
  for (const provider of ['openai', 'ollama', 'cohere']) {
    const shared = `SERVICE_PROVIDERS__${provider.toUpperCase()}__`;
    const env = { SERVICE_RERANKER__KIND: 'api', SERVICE_RERANKER__PROVIDER: provider, [`${shared}API_KEY`]: 'key' };
    const problem = `SERVICE_RERANKER__BASE_URL: must be set, or ${shared}BASE_URL, for reranker.kind api`;
    assert.deepEqual(problemsOf(env), [problem]);
    readSettings({ ...env, [`${shared}BASE_URL`]: 'http://127.0.0.1:1/v1' });
  }
  const other = problemsOf({ SERVICE_EMBEDDER__MODEL: 'other' });
  assert.match(other.join(), /^SERVICE_EMBEDDER__MODEL=other: must be multilingual-e5-small, the only built-in model/);
  assert.deepEqual(problemsOf({ SERVICE_EMBEDDER__PROVIDER: 'openai', SERVICE_EMBEDDER__API_KEY: 'key' }), [
    'SERVICE_EMBEDDER__BASE_URL: must be set, or SERVICE_PROVIDERS__OPENAI__BASE_URL, for an embedder that is not local',
  ]);
});

test('no message repeats a secret, whatever is wrong with it', () => {
  const secret = fc.string({ minLength: 1 }).map((text) => `CANARY${text}CANARY`);
  const secretVariables = fixedVariables.map(({ name }) => name).filter((name) => /AUTH_TOKENS?$|API_KEY$/.test(name));
  assert.equal(secretVariables.length, 6);
  fc.assert(
    fc.property(secret, (value) => {
      const addresses = fixedVariables.filter(({ name }) => /(BASE_URL|OTLP_ENDPOINT)$/.test(name));
      const problems = problemsOf({
        ...Object.fromEntries(secretVariables.map((name) => [name, `${value}\u0000`])),
        ...Object.fromEntries(addresses.map(({ name }) => [name, `gopher://u:${value}@h`])),
      });
      assert.equal(problems.length, 2 + addresses.length);
      assert.ok(!problems.join('\n').includes('CANARY'));
    }),
  );
});

test('any text in any variable gives settings or one line a fault', () => {
  const numbers = fc.oneof(fc.double(), fc.integer(), fc.boolean()).map(String);
  const value = fc.oneof(fc.string(), fc.json(), numbers);
  const names = fixedVariables.map(({ name }) => name);
  const env = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 });
  fc.assert(
    fc.property(env, (given) => {
      const problems = problemsOf(given);
      assert.ok(problems.every((problem) => problem.startsWith('SERVICE_') && !/[\n\r]/.test(problem)));
      assert.ok(problems.length <= Object.keys(given).length + 1);
    }),
    { numRuns: 300 },
  );
});

test('a number within its bounds is read back exactly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (whole, real) => {
      const given = { SERVICE_JOBS__MAX_ATTEMPTS: `${whole}`, SERVICE_JOBS__BACKOFF_BASE_S: `${real}` };
      const settings = readSettings(given);
      assert.deepEqual([settings.jobs.max_attempts, settings.jobs.backoff_base_s], [whole, real]);
    }),
  );
});
