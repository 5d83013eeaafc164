/**
 * Every operation and every tool that a running service documents, called with valid, nearly valid and hostile requests. What is
 * checked is what the service says of itself: its OpenAPI document and its list of tools are read from it while it runs.
 *
 * READBACK_FUZZ_REQUESTS sets how many requests are made (routes and tools together), READBACK_TEST_SEED where they come from.
 */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { RunningService, token, until } from '../process/service.ts';
import { newestFirst } from '../scope.ts';
import { type Document, Documented } from './documented.ts';
import { withIds } from './inputs.ts';
import { type Caller, FuzzClient, judge, requestsTo } from './requests.ts';
import { callOf, callsOf, type ListedTool, type Message, strangeMessages, type ToolCall, ToolJudge } from './tools.ts';

const budget = Number(process.env.READBACK_FUZZ_REQUESTS ?? 800);
/** Of the requests, those to routes; the others call tools. */
const toRoutes = Math.ceil(budget * 0.75);
/** Printed at the end, and by a property that fails. */
const seed = fc.readConfigureGlobal().seed ?? Date.now() % 2 ** 31;
const readToken = 'fuzz-reader-token-77ae1c';
const providerKey = 'fuzz-provider-key-0d31f8';
/** Looks at the memory, in equal distances. */
const memoryLooks = 20;
/** Growth of the resident memory from the second quarter of the requests to the last, MB: caches fill, pages are added. */
const maxGrowthMb = 200;
/** In fewer requests memory grows by what is loaded once, when the first job of a kind comes. */
const toJudgeMemory = 8000;

const scope = newestFirst({ after });
let service: RunningService;
let client: FuzzClient;
let documented: Documented;
before(async () => {
  service = await RunningService.start(scope, {
    SERVICE_AUTH_TOKENS: JSON.stringify([{ name: 'reader', token: readToken, scopes: ['read'] }]),
    SERVICE_PROVIDERS__REMOTE__BASE_URL: 'http://127.0.0.1:9/v1',
    SERVICE_PROVIDERS__REMOTE__API_KEY: providerKey,
    SERVICE_MCP__ENABLE_MUTATING_TOOLS: 'true',
    SERVICE_CLUSTER__MIN_PAGES: '10',
    SERVICE_JOBS__MAX_ATTEMPTS: '1',
    SERVICE_OBSERVABILITY__LOG_LEVEL: 'debug',
  });
  documented = new Documented((await service.call<Document>('GET', '/openapi.json')).body);
  client = new FuzzClient(service.url, documented, { writer: token, reader: readToken, nobody: null });
  scope.after(() => client.close());
});

const memoryMb: number[] = [];
let requests = 0;

/** Count a request, and look at the memory now and then. */
async function counted(): Promise<void> {
  requests++;
  if (requests % Math.ceil(budget / memoryLooks) !== 0) return;
  const { body } = await service.call<string>('GET', '/metrics');
  memoryMb.push(Number(/^process_resident_memory_bytes (\S+)$/m.exec(body)?.[1]) / 2 ** 20);
}

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

test('every body that is documented is closed: a field that it does not name is refused', () => {
  const bodies = documented.operations.filter(({ body }) => body !== undefined);
  assert.ok(bodies.length > 12, 'there are bodies');
  for (const { id, faultsOf } of bodies) assert.ok(faultsOf({ no_such_field: 1 }).includes('no_such_field'), id);
});

test('what counts as a truth value in a query is what the service takes', async () => {
  const operation = documented.operation('list_clusters');
  const [parameter] = operation.parameters.filter(({ schema }) => schema.type === 'boolean');
  for (const text of ['true', 'True', '1', 'FALSE', '0', '', 'yes', '2', 'constructor']) {
    const path = `/v1/clusters?${parameter.name}=${text}`;
    const { status } = await service.call('GET', path);
    assert.equal(status, operation.queryFaultsOf(parameter, text).length === 0 ? 200 : 422, path);
  }
});

test('no request makes a route answer what it does not declare', async (t) => {
  const tally = new Tally();
  // Files that are sent have tests of their own: test/process/imports.test.ts.
  const operations = documented.operations.filter(({ takesFile }) => !takesFile);
  const fuzzed = fc.oneof(...operations.map((operation) => requestsTo(documented, operation)));
  await fc.assert(
    fc.asyncProperty(fuzzed, async (request) => {
      await counted();
      const sent = client.written(request);
      const answer = await client.send(request, sent);
      tally.add(request.to, String(answer.status));
      judge(documented, request, sent, answer);
    }),
    { numRuns: toRoutes, seed },
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
  assert.equal(tools.length, 16);
  const judges = new Map(tools.map((tool) => [tool.name, new ToolJudge(documented, tool)]));
  const calls = fc.oneof(...tools.map((tool) => callsOf(documented, tool)));
  const fuzzed = fc.oneof({ weight: 9, arbitrary: calls }, { weight: 1, arbitrary: strangeMessages });
  await fc.assert(
    fc.asyncProperty(fuzzed, async (given) => {
      await counted();
      if (typeof given !== 'object' || given === null || !('tool' in given)) {
        const { status } = await post('writer', given);
        tally.add('messages', String(status));
        return;
      }
      const { tool, caller, args } = given as ToolCall;
      const sent: unknown = JSON.parse(withIds(args, client.known, (id) => JSON.stringify(id).slice(1, -1)));
      const { status, body } = await post(caller, callOf(tool, sent, requests));
      const { result, error } = body as Message;
      if (result !== undefined) {
        tally.add(tool, 'isError' in Object(result) ? 'refused' : 'answered');
        judges.get(tool)?.judge(sent, result as Parameters<ToolJudge['judge']>[1]);
        return;
      }
      tally.add(tool, `no result: ${status}`);
      // Arguments that are no object, or hold a forbidden key.
      assert.ok(status === 422 || error?.code === -32602 || error?.code === -32603, JSON.stringify(body).slice(0, 300));
    }),
    { numRuns: budget - toRoutes, seed },
  );
  tally.print(t);
});

test('after all of it the service lives, has logged no fault, nothing raw and no secret, and in a long run has not grown', async (t) => {
  await until(async () => (await service.call('GET', '/readyz')).status === 200, 'it is ready');
  await service.stop();
  const lines = service.output.trimEnd().split('\n');
  t.diagnostic(`${requests} requests, ${lines.length} lines of log, memory ${memoryMb.map(Math.round).join(' ')} MB`);
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

  if (budget < toJudgeMemory) return;
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const quarter = memoryLooks / 4;
  const growth = mean(memoryMb.slice(-quarter)) - mean(memoryMb.slice(quarter, 2 * quarter));
  assert.ok(growth < maxGrowthMb, `memory has grown by ${Math.round(growth)} MB`);
});
