/**
 * A real service process for tests: started from dist/ on a free port in a folder of its own, killed or
 * stopped, started again on the same folder, and cleaned up with the test whatever happens.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobListResponse } from '../../src/domain/job.ts';
import type { ModelListResponse } from '../../src/domain/model.ts';
import type { Scope } from '../scope.ts';
import { noteRareStates } from './rare-states.ts';

const root = join(import.meta.dirname, '../..');
/** Until a condition is looked at again, ms, at first; later a fifth of the wait so far, since looking takes processor time from the service. */
const pollMs = 40;
const longestPollMs = 600;
/** Nothing that a test waits for takes this long on any machine; who waits in vain waits no longer, ms. */
export const patienceMs = Number(process.env.READBACK_TEST_PATIENCE_MS ?? 600_000);

/** Settings where pages are read for entities, which takes longer than all else. */
export const withEntities = { SERVICE_ENTITY__ENABLED: 'true' };

/** Settings where nothing is searched for: no vectors are made. */
export const withoutModel = { SERVICE_EMBEDDER__PROVIDER: 'none' };

/** Settings with a fake provider (test/providers/fake-provider-server.ts) as the embedder. */
export const embedderAt = (url: string, dim = 16): Record<string, string> => ({
  SERVICE_EMBEDDER__PROVIDER: 'openai',
  SERVICE_EMBEDDER__MODEL: 'any',
  SERVICE_EMBEDDER__DIM: String(dim),
  SERVICE_EMBEDDER__BASE_URL: `${url}/v1`,
});

/** The encoder of the tests (scripts/pack-tiny-encoder.py): of the real one's interface, and loaded in no time. */
export const tinyEncoder = { SERVICE_ENCODER__DIR: join(import.meta.dirname, '../fixtures/encoder') };

/** The encoder that is shipped, where a test is about what texts mean. */
export const realEncoder = { SERVICE_ENCODER__DIR: '' };

/**
 * Settings of every service in tests: nothing is given up because a busy machine takes long. Tests of a time limit set it themselves,
 * short where it is to pass. The encoder is a tiny one, and pages are not read for entities.
 */
export const patientSettings: Record<string, string> = {
  ...tinyEncoder,
  SERVICE_ENTITY__ENABLED: 'false',
  ...Object.fromEntries(
    [
      'STOP_TIMEOUT_S SEARCH__EMBED_DEADLINE_S SEARCH__RERANK_DEADLINE_S STORAGE__FLUSH_TIMEOUT_S',
      'RESILIENCE__EMBED_TIMEOUT_S RESILIENCE__RERANK_TIMEOUT_S LLM__TIMEOUT_S FETCH__TIMEOUT_S',
      'FETCH__VIDEO_TIMEOUT_S FETCH__AUDIO_TIMEOUT_S TRANSCRIBE__TIMEOUT_S',
    ]
      .flatMap((line) => line.split(' '))
      .map((name) => [`SERVICE_${name}`, '600']),
  ),
};

/** In the environment of a service: how many files it may have open. */
export const openFilesVariable = 'READBACK_TEST_OPEN_FILES';

export const token = 'process-test-token-2f9c51';

/**
 * Address of a PostgreSQL server: a service is then three hosts of a cluster of its own, and a request goes to any of them (`npm run contract --
 * --cluster`).
 */
const { READBACK_TEST_CLUSTER: clusterAt } = process.env;
export const isClustered = clusterAt !== undefined;

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Attempt extends Exit {
  stdout: string;
  stderr: string;
  ms: number;
}

export interface Answer<Body> {
  status: number;
  body: Body;
  headers: Headers;
}

export interface CallOptions {
  token?: string | null;
  headers?: Record<string, string>;
}

export class RunningService {
  /** Holds the data folder, which the service makes itself. */
  readonly home: string;
  readonly dataDir: string;
  /** Everything that every process of this service wrote, and how long each took to be ready, ms. */
  output = '';
  readonly startTimes: number[] = [];
  readonly #env: Record<string, string>;
  /** Answers 507. */
  #refusedByQuota = 0;
  #child: ChildProcess | undefined;
  #url: string | undefined;
  /** The other hosts of its cluster; null before there is one. */
  #others: RunningService[] | null = clusterAt === undefined ? [] : null;
  #metricsToken: string | undefined;
  /** The present process has ended, and all that it said is read. */
  #closed: Promise<unknown> = Promise.resolve();
  /** Where the present process's output begins. */
  #outputFrom = 0;

  private constructor(env: Record<string, string>) {
    this.home = mkdtempSync(join(tmpdir(), 'readback-test-'));
    this.dataDir = join(this.home, 'data');
    this.#env = env;
  }

  /** A service that is cleaned up after its scope; not started yet. `env` adds to or takes from (`''`) the default settings. */
  static prepare(scope: Scope, env: Record<string, string> = {}): RunningService {
    const service = new RunningService(env);
    scope.after(async () => {
      await service.kill();
      for (const { home } of [service, ...(service.#others ?? [])]) rmSync(home, { recursive: true, force: true });
      noteRareStates(service.output, service.#refusedByQuota);
      assert.ok(!service.output.includes(token), 'no log of any run holds the token');
    });
    return service;
  }

  /** A service that is ready, cleaned up after its scope. */
  static async start(scope: Scope, env: Record<string, string> = {}): Promise<RunningService> {
    const service = RunningService.prepare(scope, env);
    await service.start();
    return service;
  }

  /** The address that the ready process told. */
  get url(): string {
    const urls = [this, ...(this.#others ?? [])].map((host) => host.#url);
    const url = urls[Math.floor(Math.random() * urls.length)];
    assert.ok(url !== undefined, 'the service is not running');
    return url;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Start a process and wait until it is ready; `env` is for this process only. */
  async start(env: Record<string, string> = {}): Promise<void> {
    const began = performance.now();
    this.#others ??= await this.#inCluster();
    this.spawn(env);
    await Promise.all([this.ready(), ...this.#others.map((host) => host.start(env))]);
    if (this.#others.length > 0)
      await until(async () => (await this.call('GET', '/v1/jobs?limit=1')).status !== 503, 'a host serves the library');
    this.startTimes.push(Math.round(performance.now() - began));
  }

  /** Start a process without waiting for it. */
  spawn(env: Record<string, string> = {}): void {
    assert.ok(this.#child === undefined, 'the service is running');
    const child = launch({ ...this.#environment(), ...env });
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once('close', resolve));
    this.#outputFrom = this.output.length;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
  }

  /** Wait for the log line that says where the service listens. */
  async ready(): Promise<void> {
    const child = this.#running();
    const readyLine = /^\{.*"readback is ready".*\}$/m;
    await until(() => {
      const said = readyLine.exec(this.output.slice(this.#outputFrom))?.[0];
      if (said !== undefined) {
        this.#url = String(JSON.parse(said).url);
      } else if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`ended before it was ready:\n${this.output.slice(this.#outputFrom)}`);
      }
      return said !== undefined;
    }, 'the service is ready');
  }

  /** Send a signal and wait for the process's end; nothing to do where none runs. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    const child = this.#child;
    const others = Promise.all((this.#others ?? []).map((host) => host.kill(signal)));
    if (child === undefined) return { code: null, signal: null };
    child.kill(signal);
    const [ended] = await Promise.all([this.ended(), others]);
    return ended;
  }

  /** Send a signal and go on. */
  signal(signal: NodeJS.Signals): void {
    this.#running().kill(signal);
  }

  /** Wait for the process's end and its last words. */
  async ended(): Promise<Exit> {
    const child = this.#running();
    await this.#closed;
    this.#child = undefined;
    this.#url = undefined;
    return { code: child.exitCode, signal: child.signalCode };
  }

  /** Stop in order. */
  async stop(): Promise<void> {
    assert.deepEqual(await this.kill('SIGTERM'), { code: 0, signal: null }, this.output.slice(-4000));
  }

  /** Send a request; a body that is not a string is sent as JSON. */
  async call<Body>(
    method: string,
    path: string,
    body?: unknown,
    { token: sent = token, headers = {} }: CallOptions = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(sent === null ? {} : { authorization: `Bearer ${sent}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 507) this.#refusedByQuota++;
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as Body, headers: response.headers };
  }

  /** Hand in a page that is new and wait until it is indexed; gives its id. */
  async add(page: object): Promise<string> {
    const { status, body } = await this.call<{ page_id: string }>('POST', '/v1/pages', page);
    assert.equal(status, 202, JSON.stringify(body));
    assert.deepEqual(await this.settled([body.page_id]), ['indexed']);
    return body.page_id;
  }

  /** `/metrics` of the library: in a cluster a token of the settings gets those of the host that it asks, and one that was made those of the owner. */
  async metrics(): Promise<Answer<string>> {
    if (!isClustered) return this.call('GET', '/metrics');
    const asked = { name: 'metrics', scopes: ['read'] };
    this.#metricsToken ??= (await this.call<{ token: string }>('POST', '/v1/tokens', asked)).body.token;
    return this.call('GET', '/metrics', undefined, { token: this.#metricsToken });
  }

  /** Wait until no page of these is on its way any more, and all have their vectors; gives their statuses in order. */
  async settled(pageIds: readonly string[], limitMs = patienceMs): Promise<string[]> {
    const statuses = await this.indexed(pageIds, limitMs);
    await until(async () => (await this.#pending()) === 0, 'every page has its vectors', limitMs);
    return statuses;
  }

  /** Wait until no page of these is on its way any more; gives their statuses in order. */
  async indexed(pageIds: readonly string[], limitMs = patienceMs): Promise<string[]> {
    const statuses = new Map<string, string>();
    await until(
      async () => {
        const open = pageIds.filter((id) => statuses.get(id) !== 'indexed' && statuses.get(id) !== 'dead');
        for (let at = 0; at < open.length; at += 500) {
          const page_ids = open.slice(at, at + 500);
          const { body } = await this.call<{ results: { page_id: string; status: string }[] }>(
            'POST',
            '/v1/pages/status/batch',
            { page_ids },
          );
          for (const { page_id, status } of body.results) statuses.set(page_id, status);
        }
        return pageIds.every((id) => statuses.get(id) === 'indexed' || statuses.get(id) === 'dead');
      },
      'every page is indexed or dead',
      limitMs,
    );
    return pageIds.map((id) => statuses.get(id) ?? 'unknown');
  }

  /** Make no vectors from now on, where they are not what is tried. Searches go by words. */
  async pauseVectors(): Promise<void> {
    const { status } = await this.call('POST', '/v1/models/fill', { paused: true });
    assert.equal(status, 200);
  }

  /** Passages that the active model is to get vectors of; 1 while those of the last ones go into the index. */
  async #pending(): Promise<number> {
    const { body } = await this.call<Partial<ModelListResponse>>('GET', '/v1/models');
    const active = body.models?.find(({ is_active }) => is_active);
    const pending = active?.paused ? 0 : (active?.vectors_pending ?? 0);
    if (active === undefined || active.paused || pending > 0 || body.models?.length !== 1) return pending;
    const filling = await this.call<Partial<JobListResponse>>(
      'GET',
      '/v1/jobs?kind=backfill_model&status=running&limit=1',
    );
    return filling.body.jobs?.length ?? 0;
  }

  /** Run a process on this data folder that is expected to end by itself. */
  async attempt(env: Record<string, string> = {}, args: readonly string[] = []): Promise<Attempt> {
    const began = performance.now();
    const child = launch({ ...this.#environment(), ...env }, args);
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    await once(child, 'close');
    clearTimeout(patience);
    return { code: child.exitCode, signal: child.signalCode, stdout, stderr, ms: performance.now() - began };
  }

  /** Give it settings of a host of a new cluster, whose library all tokens of the settings are of; gives the other hosts. */
  async #inCluster(): Promise<RunningService[]> {
    const { newClusterSettings } = await import('../cluster/cluster-of-services.ts');
    const [own, ...others] = await newClusterSettings(String(clusterAt), 3);
    const env = { ...this.#env };
    Object.assign(this.#env, own);
    return others.map((settings) => {
      const host = new RunningService({ ...env, ...settings });
      host.#others = [];
      return host;
    });
  }

  #running(): ChildProcess {
    assert.ok(this.#child !== undefined, 'no process runs');
    return this.#child;
  }

  #environment(): Record<string, string> {
    return {
      SERVICE_DATA_DIR: this.dataDir,
      SERVICE_AUTH_TOKEN: token,
      SERVICE_BIND_PORT: '0',
      ...patientSettings,
      ...this.#env,
    };
  }
}

/** Look at a condition until it holds. Errors: when it does not hold in time; the long runs set their own. */
export async function until(
  holds: () => Promise<boolean> | boolean,
  what: string,
  limitMs = patienceMs,
): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - began;
    if (waited > limitMs) throw new Error(`did not come true within ${limitMs} ms: ${what}`);
    await delay(Math.min(Math.max(pollMs, waited / 5), longestPollMs));
  }
}

/** Settings come from `env` alone: none of the person who runs the tests. */
function launch(env: Record<string, string>, args: readonly string[] = []): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SERVICE_') && name !== 'NODE_OPTIONS');
  const service = [process.execPath, join(root, 'dist', 'main.js'), ...args];
  const { [openFilesVariable]: openFiles } = env;
  const [program, ...rest] =
    openFiles === undefined ? service : ['sh', '-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, ...service];
  return spawn(program, rest, {
    env: { ...Object.fromEntries(own), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
