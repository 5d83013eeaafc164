/** `readback model`, on a real service and by the list that comes with the program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textWidth } from '../../src/cli/output.ts';
import { knownModels } from '../../src/domain/known-models.ts';
import { RunningService, token } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { CliHere } from './run-cli.ts';

test('known models are listed without a service, in lines that fit', async (t) => {
  const cli = new CliHere(temporaryFolder(t), { COLUMNS: '80' });
  const listed = await cli.run(['model', 'list', '--known']);
  assert.equal(listed.code, 0, listed.stderr);
  const lines = listed.stdout.trimEnd().split('\n');
  assert.equal(lines.length, knownModels.length + 1);
  for (const line of lines) assert.ok(textWidth(line) <= 80, line);
  assert.deepEqual(await cli.json(['model', 'list', '--known']), { models: knownModels });
});

test('a model is registered, filled, searched by and removed', async (t) => {
  const service = await RunningService.start(t, { SERVICE_PROVIDERS__OLLAMA__BASE_URL: 'http://127.0.0.1:1/v1' });
  const cli = new CliHere(temporaryFolder(t), {
    SERVICE_AUTH_TOKEN: token,
    SERVICE_BIND_PORT: new URL(service.url).port,
    COLUMNS: '80',
  });
  await service.add({ url: 'https://sea.example/tides', body_extracted: 'The tide comes in twice a day.' });
  const { models: known } = (await service.call<{ models: unknown[] }>('GET', '/v1/models/known')).body;
  assert.deepEqual(known, knownModels);

  const misused = await cli.run(['model', 'add', 'wink']);
  assert.match(misused.stderr, /unknown model .* pass --provider,\n--dim and --max-tokens/);
  assert.match((await cli.run(['model', 'add', 'bge-m3', '--provider', 'openai'])).stderr, /available from ollama, /);
  assert.match(
    (await cli.run(['model', 'add', 'embeddinggemma', '--dim', '300'])).stderr,
    /embeddinggemma gives 768 or 512 or 256 or 128 numbers, not 300/,
  );
  const gemma = await cli.json<Record<string, unknown>>(['model', 'add', 'embeddinggemma', '--dim', '256']);
  assert.deepEqual([gemma.provider, gemma.dim, gemma.status], ['ollama', 256, 'registered']);

  const local = { provider: 'local', model_name: 'multilingual-e5-small', dim: 384, max_input_tokens: 1000 };
  const { status } = await service.call('POST', '/v1/models', { ...local, id: 'second' });
  assert.equal(status, 201);
  const estimated = await cli.run(['model', 'fill', 'second']);
  assert.match(estimated.stdout, /^1 passage, \d+ tokens\ntime .*\ncost {2}about \$0\.00\n$/);
  assert.equal(estimated.stderr, 'not started: pass --yes to start\n');
  const filled = await cli.run(['model', 'fill', 'second', '--yes']);
  assert.equal(filled.stdout, 'second has vectors of 1 passage\n', filled.stderr);
  const used = await cli.run(['model', 'use', 'second']);
  assert.equal(used.stdout, 'searches now use second\n');
  const listed = (await cli.run(['model', 'list'])).stdout.split('\n');
  assert.ok(
    listed.some((line) => /^\* {2}active +384 dimensions +(native +)?second$/.test(line)),
    listed.join('\n'),
  );
  const removed = await cli.run(['model', 'remove', String(gemma.id)]);
  assert.equal(removed.stdout, 'deleted ollama-embeddinggemma-256 and its vectors\n');
});
