/**
 * The hostile set (hostile-classes.ts) against a real service, class after class: another process asks for its health, and the kernel says how
 * much memory it has. READBACK_SOAK_CLASSES: a pattern of the names to run. The bound on health counts the service's own time, not that of other
 * programs on the machine.
 */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { note } from '../../test/process/rare-states.ts';
import { sampleProcess } from '../../test/process/samples.ts';
import { RunningService, token, until } from '../../test/process/service.ts';
import { startFakeProvider } from '../../test/providers/fake-provider-server.ts';
import { newestFirst, type Scope } from '../../test/scope.ts';
import { Attacker, HostileSite } from './attacker.ts';
import { hostileClasses, type Stage } from './hostile-classes.ts';
import type { WorstHealth } from './watch-health.ts';

const boundMs = 300;
const boundMb = 200;
/** For memory to come back, ms: a collection of everything comes when little is done. */
const restMs = 30_000;
const readToken = 'soak-reader-8a61f0';
const pages = 100;

/** The process that asks for health; gives the slowest answers since the last call. */
async function watchFrom(scope: Scope, { url, pid }: RunningService): Promise<() => Promise<WorstHealth>> {
  const watcher = fork(join(import.meta.dirname, 'watch-health.ts'), {
    execArgv: ['--import', join(import.meta.dirname, '../../scripts/tsx-in-threads.mjs')],
  });
  scope.after(async () => void watcher.kill());
  watcher.send({ url, pid });
  return async () => {
    const said = once(watcher, 'message');
    watcher.send('worst');
    const [{ wall, held }]: WorstHealth[] = await said;
    return { wall: Math.round(wall), held: Math.round(held) };
  };
}

const textOf = (no: number) =>
  Array.from(
    { length: 60 },
    (_, i) => `Note ${no} of day ${i}: the heron waits at river ${(no * 7 + i * 13) % 97}, and the otter swims by.`,
  ).join('\n\n');

async function prepare(outer: Scope): Promise<{ service: RunningService; stage: Stage }> {
  const t = newestFirst(outer);
  const provider = await startFakeProvider(t, { dim: 16 });
  const site = await HostileSite.open(t);
  const service = await RunningService.start(t, {
    SERVICE_AUTH_TOKENS: JSON.stringify([
      { name: 'owner', token, scopes: ['write'] },
      { name: 'reader', token: readToken, scopes: ['read'] },
    ]),
    SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1"]',
    SERVICE_PROVIDERS__FAKE__BASE_URL: `${provider.url}/v1`,
    SERVICE_CLUSTER__MIN_PAGES: '10',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    SERVICE_EVENTS__MAX_SUBSCRIBERS: '100',
  });
  const attacker = new Attacker(service.url, { read: readToken, write: token });
  const owner = new Attacker(service.url, { read: readToken, write: token });
  const add = (page: object) => owner.ask<{ page_id: string }>('write', 'POST', '/v1/pages', page);
  const pageIds: string[] = [];
  for (let no = 0; no < pages; no++) {
    pageIds.push((await add({ url: `https://notes.example/${no}`, body_extracted: textOf(no) })).page_id);
  }
  const line = 'A long page says little of anything, and says it in a great many words. ';
  const large = await add({
    url: 'https://notes.example/large',
    body_extracted: line.repeat(12_000_000 / line.length),
  });
  assert.deepEqual(new Set(await service.settled([...pageIds, large.page_id], 600_000)), new Set(['indexed']));
  const model = { provider: 'fake', model_name: 'words', dim: 16, max_input_tokens: 512, id: 'second' };
  await owner.ask('write', 'POST', '/v1/models', model);
  await owner.ask('write', 'POST', '/v1/models/second/backfill', { confirm: true });
  const isFilled = async () =>
    (await owner.ask<{ status: string }>('read', 'GET', '/v1/models/second/backfill')).status === 'complete';
  await until(isFilled, 'the second model has vectors', 600_000);
  const { models } = await owner.ask<{ models: { id: string }[] }>('read', 'GET', '/v1/models');

  const save = async (url: string) => {
    const { page_id } = await add({ url });
    await service.settled([page_id], 300_000);
  };
  const follow = async (url: string) => {
    const { id } = await owner.ask<{ id: string }>('write', 'POST', '/v1/watches', { url, kind: 'rss' });
    await owner.send('write', 'POST', `/v1/watches/${id}/run`);
    const isPolled = async () =>
      (await owner.ask<{ last_status: string }>('read', 'GET', `/v1/watches/${id}`)).last_status !== 'pending';
    await until(isPolled, 'the source is polled', 300_000);
  };
  const stage = { attacker, site, pageIds, largeId: large.page_id, models: models.map(({ id }) => id), save, follow };
  return { service, stage };
}

test('no class of hostile input holds up the service or keeps its memory', { timeout: 1_700_000 }, async (t) => {
  const { service, stage } = await prepare(t);
  const worstHealth = await watchFrom(t, service);
  await delay(5_000);
  await worstHealth();
  await delay(3_000);
  const idle = await worstHealth();
  const memory = () => Math.round(sampleProcess(service).ownMb);

  const wanted = new RegExp(process.env.READBACK_SOAK_CLASSES ?? '');
  const faults: string[] = [];
  for (const { name, right, attack } of hostileClasses.filter((each) => wanted.test(each.name))) {
    await worstHealth();
    const before = memory();
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, memory());
    }, 50);
    const began = performance.now();
    let fault = '';
    try {
      await attack(stage);
    } catch (error) {
      fault = `${name}: ${String(error)}`;
    }
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    const worst = await worstHealth();
    const { statuses } = stage.attacker;
    stage.attacker.leave();
    let after = memory();
    for (const rest = performance.now(); after >= before + boundMb && performance.now() - rest < restMs; ) {
      await delay(500);
      after = memory();
    }
    clearInterval(sampling);
    const line = {
      right,
      worst_healthz_ms: worst,
      mb_before: before,
      mb_peak: peak,
      mb_after: after,
      seconds,
      statuses,
    };
    note({ counts: { [name]: JSON.stringify(line) } });
    t.diagnostic(JSON.stringify({ name, ...line }));
    if (fault !== '') faults.push(fault);
    if (worst.held > boundMs + idle.held) faults.push(`${name}: health took ${worst.held} ms of the service`);
    if (after >= before + boundMb) faults.push(`${name}: ${after} MB after, ${before} MB before`);
    if (Object.keys(statuses).some((status) => status.startsWith('5') && status !== '503' && status !== '501')) {
      faults.push(`${name}: ${JSON.stringify(statuses)}`);
    }
  }
  note({ counts: { idle_healthz_ms: JSON.stringify(idle) } });
  assert.deepEqual(faults, []);
});
