/**
 * Every operation and every tool that a running service documents, called with valid, nearly valid and hostile requests. What is
 * checked is what the service says of itself: its OpenAPI document and its list of tools are read from it while it runs.
 *
 * READBACK_FUZZ_REQUESTS sets how many inputs all of bench/fuzz has, READBACK_TEST_SEED where they come from. In a long run the event loop may
 * not be busy for 300 ms at a time, and a minute after the last request the memory is what it was.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { type Document, Documented } from '../../test/process/documented.ts';
import { note } from '../../test/process/rare-states.ts';
import { sampleProcess } from '../../test/process/samples.ts';
import { RunningService, token, until, withEntities } from '../../test/process/service.ts';
import { newestFirst, temporaryFolder } from '../../test/scope.ts';
import { withIds } from './inputs.ts';
import { type Caller, FuzzClient, judge, requestsTo } from './requests.ts';
import { inputs, isLong, runsOf, seed } from './size.ts';
import { callOf, callsOf, type ListedTool, type Message, strangeMessages, type ToolCall, ToolJudge } from './tools.ts';

const budget = inputs.routes + inputs.tools;
const readToken = 'fuzz-reader-token-77ae1c';
const providerKey = 'fuzz-provider-key-0d31f8';
/** After this share of the requests everything that is loaded once is there. */
const warmUp = 0.1;
/** Of the memory after the warm-up, a minute after the last request: caches fill, pages are added. */
const maxGrowth = 1.2;
/** The event loop is not busy for so long at a time, ms of processor time. */
const maxBusyMs = 300;

const scope = newestFirst({ after });
const stallFile = join(temporaryFolder(scope), 'stalls');
let service: RunningService;
let client: FuzzClient;
let documented: Documented;
before(async () => {
  service = await RunningService.start(scope, {
    ...withEntities,
    SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'reader', token: readToken, scopes: ['read'] }]),
    SERVICE_PROVIDERS__REMOTE__BASE_URL: 'http://127.0.0.1:9/v1',
    SERVICE_PROVIDERS__REMOTE__API_KEY: providerKey,
    SERVICE_MCP__ENABLE_MUTATING_TOOLS: 'true',
    SERVICE_CLUSTER__MIN_PAGES: '10',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    SERVICE_OBSERVABILITY__LOG_LEVEL: 'debug',
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'stall-watch.mjs'))}`,
    READBACK_FUZZ_STALLS: stallFile,
  });
  documented = new Documented((await service.call<Document>('GET', '/openapi.json')).body);
  client = new FuzzClient(service.url, documented, { writer: token, reader: readToken, nobody: null });
  scope.after(() => client.close());
});

let warmMb = 0;
let requests = 0;
/** Requests that took long, to name the one that was under way in a stall. */
const slow: { to: string; from: number; until: number }[] = [];

/** Send one, counted. */
async function counted<Answer>(to: string, send: () => Promise<Answer>): Promise<Answer> {
  if (++requests === Math.ceil(budget * warmUp)) warmMb = sampleProcess(service).ownMb;
  const from = Date.now();
  const answer = await send();
  if (Date.now() - from >= 100) slow.push({ to, from, until: Date.now() });
  return answer;
}

/** When the event loop was busy for 100 ms or more at a time since the first request, and what was asked for then. */
function stalls(from: number): { busy_ms: number; wall_ms: number; during: string[] }[] {
  const lines = existsSync(stallFile) ? readFileSync(stallFile, 'utf8').trim().split('\n').filter(Boolean) : [];
  return lines
    .map((line) => JSON.parse(line) as { at: number; busy_ms: number; wall_ms: number })
    .filter(({ at, wall_ms }) => at - wall_ms >= from)
    .map(({ at, busy_ms, wall_ms }) => ({
      ...{ busy_ms, wall_ms },
      during: slow.filter((each) => each.from <= at && each.until >= at - wall_ms).map(({ to }) => to),
    }))
    .sort((a, b) => b.busy_ms - a.busy_ms);
}
let firstAt = Number.POSITIVE_INFINITY;

/** Counts of answers by what was called, printed at the end. */
class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(what: string, outcome: string): void {
    const outcomes = this.#counts.get(what) ?? new Map<string, number>();
    this.#counts.set(what, outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1));
  }

  get called(): string[] {
    return [...this.#counts.keys()];
  }

  print(t: TestContext): void {
    t.diagnostic(`seed ${seed}`);
    for (const [what, outcomes] of this.#counts)
      t.diagnostic(
        `${what}: ${[...outcomes]
          .sort()
          .map(([outcome, count]) => `${outcome} × ${count}`)
          .join(', ')}`,
      );
  }
}

/** Whether a character would steer a terminal or end a line; lines end with a line feed. */
const isControl = (character: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(character) && character !== '\n';

test('no request makes a route answer what it does not declare', async (t) => {
  const tally = new Tally();
  const { operations } = documented;
  const fuzzed = fc.oneof(...operations.map((operation) => requestsTo(documented, operation)));
  firstAt = Date.now();
  await fc.assert(
    fc.asyncProperty(fuzzed, async (request) => {
      const sent = client.written(request);
      const answer = await counted(request.to, () => client.send(request, sent));
      tally.add(request.to, String(answer.status));
      judge(documented, request, sent, answer);
    }),
    runsOf(inputs.routes),
  );
  assert.ok(tally.called.length > 0.8 * operations.length, `only ${tally.called.join()} were called`);
  tally.print(t);
});

test('no call makes a tool give what it does not declare, and no message breaks the protocol', async (t) => {
  const tally = new Tally();
  const accept = { accept: 'application/json, text/event-stream' };
  const post = async (caller: Caller, message: unknown) => {
    const sent = { path: '/mcp', body: JSON.stringify(message) };
    const answer = await client.send({ to: 'mcp', caller }, sent, accept);
    documented.operation('mcp').judge(answer);
    return answer;
  };
  const { body: list } = await post('writer', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const { tools } = (list as { result: { tools: ListedTool[] } }).result;
  assert.equal(tools.length, 18);
  const judges = new Map(tools.map((tool) => [tool.name, new ToolJudge(documented, tool)]));
  const calls = fc.oneof(...tools.map((tool) => callsOf(documented, tool)));
  const fuzzed = fc.oneof({ weight: 9, arbitrary: calls }, { weight: 1, arbitrary: strangeMessages });
  await fc.assert(
    fc.asyncProperty(fuzzed, async (given) => {
      if (typeof given !== 'object' || given === null || !('tool' in given)) {
        const { status } = await counted('messages', () => post('writer', given));
        tally.add('messages', String(status));
        return;
      }
      const { tool, caller, args } = given as ToolCall;
      const sent: unknown = JSON.parse(withIds(args, client.known, (id) => JSON.stringify(id).slice(1, -1)));
      const { status, body } = await counted(tool, () => post(caller, callOf(tool, sent, requests)));
      const { result, error } = body as Message;
      if (result !== undefined) {
        tally.add(tool, 'isError' in Object(result) ? 'refused' : 'answered');
        judges.get(tool)?.judge(sent, result as Parameters<ToolJudge['judge']>[1]);
        return;
      }
      tally.add(tool, `no result: ${status}`);
      // Arguments that are no object, or hold a forbidden key.
      assert.ok(status === 422 || error?.code === -32602, JSON.stringify(body).slice(0, 300));
    }),
    runsOf(inputs.tools),
  );
  tally.print(t);
});

test('after all of it the service lives, has logged no fault, nothing raw and no secret, and in a long run has not grown', async (t) => {
  await until(async () => (await service.call('GET', '/readyz')).status === 200, 'it is ready');
  const isBack = () => sampleProcess(service).ownMb <= maxGrowth * warmMb;
  const memory: { warm: number; last: number; back: number | null } = {
    warm: Math.round(warmMb),
    last: Math.round(sampleProcess(service).ownMb),
    back: null,
  };
  if (isLong) await until(isBack, '', 60_000).catch(() => {}); // judged below, with all numbers at hand
  memory.back = Math.round(sampleProcess(service).ownMb);
  assert.ok(existsSync(stallFile) || !existsSync('/proc/self/schedstat'), 'the event loop was watched');
  const busy = stalls(firstAt);
  await service.stop();
  const facts = {
    seed,
    inputs: requests,
    memory_mb: memory,
    stalls: busy.filter(({ busy_ms }) => busy_ms >= maxBusyMs),
  };
  t.diagnostic(JSON.stringify({ ...facts, busiest: busy.slice(0, 5) }));
  note({ counts: { 'fuzz service': JSON.stringify(facts) } });
  const lines = service.output.trimEnd().split('\n');
  const logged = lines.map((line) => JSON.parse(line) as { level: number; msg: string });
  assert.ok(logged.length > requests / 2, 'answers are logged');
  assert.deepEqual(
    logged.filter(({ level }) => level >= 50),
    [],
  );
  assert.deepEqual([...service.output].filter(isControl), []);
  assert.doesNotMatch(service.output, /unhandledRejection|uncaughtException/);
  assert.ok(!service.output.includes('heron'), 'no text of a page or a query is logged');
  for (const secret of [token, readToken, providerKey])
    assert.ok(!service.output.includes(secret), 'no secret is logged');

  if (!isLong) return;
  assert.deepEqual(facts.stalls, [], 'the event loop was busy for too long');
  assert.ok(memory.back <= maxGrowth * warmMb, `the memory was ${memory.warm} MB, and is ${memory.back} MB`);
});
