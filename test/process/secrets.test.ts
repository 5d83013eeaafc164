/**
 * Secrets and hostile text through a real service: whatever its providers say and whoever submits it, no token, key or password is
 * told, and each line of the log stays one line of bounded length.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { filesHolding } from '../app/byte-scan.ts';
import { Site } from '../providers/small-web.ts';
import { embedderAt, RunningService, token, until, withoutModel } from './service.ts';

const canaries = {
  accessToken: 'canary-access-token-18c2',
  embedderKey: 'sk-canary-embedder-55a1',
  rerankerKey: 'sk-canary-reranker-70f3',
  llmKey: 'sk-canary-llm-3b9e',
  user: 'canary-user-6d40',
  password: 'canary-password-9e27',
};
const secrets = [token, ...Object.values(canaries)];

/** A provider that answers every call by saying back all that it was sent, keys included. */
function startTalkative(t: TestContext, status: () => number): Promise<Site> {
  return Site.open(t, {
    '*': async (request, response) => {
      for await (const _ of request);
      const said = JSON.stringify({ url: request.url, headers: request.headers });
      response
        .writeHead(status(), { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: said } }));
    },
  });
}

test('a provider that repeats its keys, wrong tokens, a crash and a rejected start tell no secret', async (t) => {
  let status = 401;
  const provider = await startTalkative(t, () => status);
  const host = `127.0.0.1:${provider.port}`;
  const server = `http://${canaries.user}:${canaries.password}@${host}`;
  const address = `${server}/v1`;
  const service = await RunningService.start(t, {
    SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'phone', token: canaries.accessToken, scopes: ['read'] }]),
    ...embedderAt(server, 8),
    SERVICE_EMBEDDER__API_KEY: canaries.embedderKey,
    SERVICE_RERANKER__KIND: 'api',
    SERVICE_RERANKER__PROVIDER: 'cohere',
    SERVICE_RERANKER__MODEL: 'any',
    SERVICE_RERANKER__BASE_URL: address,
    SERVICE_RERANKER__API_KEY: canaries.rerankerKey,
    SERVICE_LLM__BASE_URL: address,
    SERVICE_LLM__API_KEY: canaries.llmKey,
    SERVICE_OBSERVABILITY__LOG_LEVEL: 'debug',
    SERVICE_RESILIENCE__RETRY_ATTEMPTS: '1',
    SERVICE_JOBS__MAX_ATTEMPTS: '2',
    SERVICE_JOBS__BACKOFF_BASE_S: '0.05',
  });
  const told: string[] = [];
  const ask = async (method: string, path: string, body?: unknown, sent = token) => {
    const answer = await service.call<unknown>(method, path, body, { token: sent });
    told.push(JSON.stringify([answer.body, [...answer.headers]]));
    return answer;
  };

  for (status of [401, 500]) {
    const { body } = await ask('POST', '/v1/pages', {
      url: `https://example.com/${status}`,
      body_extracted: 'some words',
    });
    const { page_id } = body as { page_id: string };
    assert.deepEqual(await service.settled([page_id]), ['dead']);
    await ask('GET', `/v1/pages/${page_id}/status`);
    await ask('POST', '/v1/search', { query: 'some words' });
  }
  await ask('GET', '/v1/search', undefined, `${canaries.accessToken}x`);
  await ask('POST', '/v1/pages', { url: 'https://example.com/' }, canaries.accessToken);
  await ask('GET', `/v1/search?token=${canaries.accessToken}`);
  await ask('POST', '/v1/search', { query: 'x', [canaries.accessToken]: canaries.llmKey });
  const jobs = await ask('GET', '/v1/jobs');
  assert.match(JSON.stringify(jobs.body), /answered (401|500)/, 'the faults are told');
  for (const path of [
    '/v1/admin/config',
    '/v1/admin/query-log',
    '/v1/models',
    '/v1/admin/mcp',
    '/v1/whoami',
    '/metrics',
  ]) {
    await ask('GET', path);
  }
  await service.kill('SIGABRT');
  const rejected = await service.attempt({
    SERVICE_EMBEDDER__DIM: 'many',
    SERVICE_AUTH_TOKENS: `[{"token":"${canaries.accessToken}"}]`,
  });
  assert.notEqual(rejected.code, 0);

  // One request sent a secret as the name of a field, which the answer may repeat to whoever sent it: the log may not.
  const places = {
    answers: told
      .filter((answer) => !answer.includes('unrecognized_keys') && !answer.includes('extra_forbidden'))
      .join('\n'),
    'log and last words': service.output,
    'a rejected start': rejected.stdout + rejected.stderr,
  };
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} in ${place}: ${around(text, secret)}`);
  }
  assert.deepEqual(filesHolding(service.dataDir, secrets), {}, 'no file of the data folder holds a secret');
});

test('line breaks, terminal codes, NUL and a megabyte in url, title, source and reason make no second line of the log', async (t) => {
  const service = await RunningService.start(t, { ...withoutModel, SERVICE_OBSERVABILITY__LOG_LEVEL: 'debug' });
  const hostile = [
    'a\r\n{"level":60,"msg":"forged-line"}',
    '\u001b[2Jforged-line',
    'nul\u0000forged-line',
    `${'x'.repeat(1_000_000)}forged-line`,
  ];
  for (const text of hostile) {
    for (const page of [
      { url: `https://example.com/${text}`, body_extracted: 'words' },
      { url: text, body_extracted: 'words' },
      { url: 'https://example.com/title', title: text, body_extracted: 'words' },
      { url: 'https://example.com/source', source: text, body_extracted: 'words' },
    ]) {
      const { status } = await service.call('POST', '/v1/pages', page);
      assert.ok(status < 500, `${status}`);
    }
    const forgotten = await service.call('POST', '/v1/forget', { url: 'https://example.com/source', reason: text });
    assert.ok(forgotten.status < 500, `${forgotten.status}`);
    await service.call('GET', `/v1/pages/${encodeURIComponent(text.slice(0, 1000))}`);
  }
  await until(() => service.output.includes('/v1/forget'), 'the requests are in the log');
  await service.stop();
  for (const line of service.output.split('\n').filter((line) => line !== '')) {
    assert.ok(line.length < 10_000, `a line of ${line.length} characters`);
    const { msg } = JSON.parse(line) as { msg: string };
    assert.ok(!msg.includes('forged-line'));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(line, /[\u0000-\u001f\u007f]/);
  }
});

test('a name and password in a submitted address are in `original_url`, and nowhere else is told of them', async (t) => {
  const sent: unknown[] = [];
  const site = await Site.open(t, {
    '/weir': ({ headers }, response) => {
      sent.push(headers.authorization);
      response
        .setHeader('content-type', 'text/html')
        .end('<title>Weir</title><p>The weir was mended in the spring.</p>');
    },
  });
  const service = await RunningService.start(t, {
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: JSON.stringify(['127.0.0.1']),
    SERVICE_OBSERVABILITY__LOG_LEVEL: 'debug',
  });
  const withPassword = (path: string) =>
    site.url(path).replace('http://', `http://${canaries.user}:${canaries.password}@`);
  const told: string[] = [];
  const ask = async <Body>(method: string, path: string, body?: unknown) => {
    const answer = await service.call<Body>(method, path, body);
    told.push(JSON.stringify(answer.body));
    return answer;
  };
  const add = async (url: string) =>
    (await ask<{ page_id: string; revisit?: true }>('POST', '/v1/pages', { url })).body;
  const { page_id } = await add(withPassword('/weir'));
  const gone = await add(withPassword('/gone'));
  assert.deepEqual(await service.settled([page_id, gone.page_id]), ['indexed', 'dead']);
  assert.deepEqual(sent, [undefined]);
  assert.deepEqual([(await add(site.url('/weir'))).page_id, told.at(-1)?.includes('"revisit":true')], [page_id, true]);

  const { body: page } = await service.call<Record<string, unknown>>('GET', `/v1/pages/${page_id}`);
  assert.deepEqual([page.canonical_url, page.original_url], [site.url('/weir'), withPassword('/weir')]);
  const { body: found } = await ask<{ results: { page_id: string }[] }>('POST', '/v1/search', { query: 'weir' });
  assert.equal(found.results[0]?.page_id, page_id);
  await ask('GET', `/v1/pages/${gone.page_id}/status`);
  const { body: rule } = await ask<{ pattern: string }>('POST', '/v1/forget', { url: withPassword('/weir') });
  assert.equal(rule.pattern, site.url('/weir'));
  assert.equal((await service.call('GET', `/v1/pages/${page_id}`)).status, 404);
  for (const path of ['/v1/jobs', '/v1/blacklist', '/v1/admin/query-log', '/metrics']) await ask('GET', path);
  await service.stop();
  for (const text of [...told, service.output]) {
    for (const secret of [canaries.user, canaries.password])
      assert.ok(!text.includes(secret), `${secret}: ${around(text, secret)}`);
  }
});

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 200), at + 100);
}
