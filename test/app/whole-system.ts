/** The whole system without HTTP, in a data folder of its own that outlives a restart and goes with the test. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { App } from '../../src/app.ts';
import type { HostOptions } from '../../src/composition/open-host.ts';
import type { HostThreads } from '../../src/composition/open-threads.ts';
import type { ClusterDetailResponse } from '../../src/domain/cluster.ts';
import type { DomainError } from '../../src/domain/errors.ts';
import { builtInModel } from '../../src/domain/model.ts';
import type { PageChunk, PageResponse, PageStatusResponse } from '../../src/domain/page.ts';
import { type SearchRequest, type SearchResponse, searchRequest } from '../../src/domain/search.ts';
import type { Encoder as EncoderOfDir } from '../../src/encoder/encoder.ts';
import { readSettings, type Settings } from '../../src/settings/read-settings.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { keptLog, type LogLine } from '../actors/quiet-log.ts';
import { patientSettings, until } from '../process/service.ts';
import { listOf } from '../rows.ts';
import { newestFirst, type Scope } from '../scope.ts';
import { compiled } from './compiled.ts';

const { startApp }: typeof import('../../src/app.ts') = await compiled('app');
const { openThreads }: typeof import('../../src/composition/open-threads.ts') =
  await compiled('composition/open-threads');
const { Encoder }: typeof import('../../src/encoder/encoder.ts') = await compiled('encoder/encoder');

/** Threads and encoders of all systems of this process that read texts alike: what they load takes longer than most tests. */
const openedThreads = new Map<string, HostThreads>();
const openedEncoders = new Map<string | null, EncoderOfDir>();
/** Ends with the process: for a system that several tests of a file look at. */
export const untilEnd = newestFirst({ after });
/** Such a system, started and filled when the first test asks for it. */
export function once<Filled>(fill: () => Promise<Filled>): () => Promise<Filled> {
  let filled: Promise<Filled> | undefined;
  return () => {
    filled ??= fill();
    return filled;
  };
}
untilEnd.after(async () => {
  await Promise.all(Array.from([...openedThreads.values(), ...openedEncoders.values()], (opened) => opened.close()));
});

function threadsFor({ chunking, pdf, indexing }: Settings): HostThreads {
  const key = JSON.stringify({ chunking, pdf, indexing });
  const threads = openedThreads.get(key) ?? openThreads({ chunking, pdf, indexing });
  openedThreads.set(key, threads);
  return threads;
}

function encoderFor({ encoder: { dir } }: Settings): EncoderOfDir {
  const log = { info: () => {}, warn: () => {} };
  const encoder = openedEncoders.get(dir) ?? new Encoder({ dir: dir ?? undefined, dim: builtInModel.dim, log });
  openedEncoders.set(dir, encoder);
  return encoder;
}

export class WholeSystem {
  readonly dataDir: string;
  /** Settings beside the folders; read at each start. */
  readonly env: NodeJS.ProcessEnv;
  /** Of the last start. */
  metrics = createMetrics();
  logged: LogLine[] = [];
  #app: App | undefined;
  readonly #parts: Partial<HostOptions>;

  private constructor(dataDir: string, env: NodeJS.ProcessEnv, parts: Partial<HostOptions>) {
    this.dataDir = dataDir;
    this.env = env;
    this.#parts = parts;
  }

  static async start(t: Scope, env: NodeJS.ProcessEnv = {}, parts: Partial<HostOptions> = {}): Promise<WholeSystem> {
    const home = mkdtempSync(join(tmpdir(), 'readback-whole-'));
    const system = new WholeSystem(join(home, 'data'), { ...patientSettings, ...env }, parts);
    t.after(async () => {
      await system.stop();
      rmSync(home, { recursive: true, force: true });
    });
    await system.start();
    return system;
  }

  search(query: string, fields: Partial<SearchRequest> = {}): Promise<SearchResponse> {
    return this.ask('search.query', searchRequest.parse({ query, ...fields }));
  }

  /** A page with its text. */
  async page(page_id: string): Promise<PageResponse> {
    const page = await this.ask('page.get', { page_id });
    const { body_text } = await this.ask('page.text', { page_id });
    if (body_text === null || typeof body_text === 'string') return { ...page, body_text };
    let text = '';
    for await (const part of body_text.parts) text += part;
    return { ...page, body_text: text };
  }

  /** A topic with its pages, or a part of them. */
  async topic(cluster_id: string, part: { offset?: number; limit?: number } = {}): Promise<ClusterDetailResponse> {
    const { pages, ...topic } = await this.ask('cluster.get', { cluster_id, ...part });
    return { ...topic, pages: await listOf(pages) };
  }

  /** All chunks of a page. */
  async chunks(page_id: string): Promise<PageChunk[]> {
    return listOf((await this.ask('page.chunks', { page_id })).chunks);
  }

  get ask(): ReturnType<App['askOf']> {
    assert.ok(this.#app !== undefined, 'the system does not run');
    return this.#app.askOf('default');
  }

  get chat(): App['chat'] {
    return this.#app?.chat ?? null;
  }

  breakerStates(): ReturnType<App['breakerStates']> {
    return this.#app?.breakerStates() ?? [];
  }

  async start(): Promise<void> {
    const settings = readSettings({
      SERVICE_DATA_DIR: this.dataDir,
      SERVICE_AUTH_TOKEN: 'whole-system-token',
      ...this.env,
    });
    this.metrics = createMetrics();
    const { log, lines } = keptLog();
    this.logged = lines;
    const made = { metrics: this.metrics, threads: threadsFor(settings), encoder: encoderFor(settings) };
    this.#app = await startApp({ settings, log, ...made, ...this.#parts });
  }

  /** The value of a counter, by its labels. */
  async counted(name: string, labels: Record<string, string> = {}): Promise<number> {
    const { text } = await this.metrics.exposition();
    const isMeant = (line: string) =>
      line.replace(/[ {].*/, '') === name &&
      Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`));
    return Number(text.split('\n').find(isMeant)?.split(' ').at(-1) ?? 0);
  }

  async stop(): Promise<void> {
    const app = this.#app;
    this.#app = undefined;
    await app?.close();
  }

  /** Hand pages in, path → title and text, and wait until they are indexed and have their vectors; gives their ids by path. */
  async read(pages: Record<string, { title: string; text: string }>): Promise<Record<string, string>> {
    const ids = await this.handIn(pages);
    await this.settled(Object.values(ids));
    if (this.#parts.aroundEmbedders === undefined) await this.filled();
    return ids;
  }

  /** Wait until the built-in model has all its vectors, and the index has them too: the last ones go there once they are stored. */
  async filled(): Promise<void> {
    const isFilled = async () => {
      const { models } = await this.ask('model.list', {});
      if (
        models.some(
          ({ provider, status, vectors_pending }) =>
            provider === 'local' && status !== 'registered' && vectors_pending !== 0,
        )
      )
        return false;
      // One of another model may go on for as long as its provider likes.
      const others = models.filter(({ provider }) => provider !== 'local').length;
      const running = { kind: 'backfill_model', status: 'running', limit: others + 1 } as const;
      return (await this.ask('job.list', running)).jobs.length <= others;
    };
    await until(isFilled, 'all vectors of the built-in model are there');
  }

  /** Hand pages in; gives their ids by path. */
  async handIn(pages: Record<string, { title: string; text: string }>): Promise<Record<string, string>> {
    const page_ids = await this.submit(
      Object.entries(pages).map(([path, { title, text }]) => ({
        url: `https://example.com/${path}`,
        title,
        body_extracted: text,
      })),
    );
    return Object.fromEntries(Object.keys(pages).map((path, i) => [path, page_ids[i]]));
  }

  /** Hand pages in; gives the id of each. */
  async submit(pages: object[]): Promise<string[]> {
    const page_ids: string[] = [];
    for (let at = 0; at < pages.length; at += 100) {
      const results = await this.ask('page.ingestBatch', { pages: pages.slice(at, at + 100) });
      page_ids.push(...results.map((result) => ('page_id' in result ? result.page_id : result.outcome)));
    }
    return page_ids;
  }

  /** Wait until pages are indexed, or what else is waited for. */
  async settled(
    page_ids: string[],
    isSettled = ({ status }: PageStatusResponse) => status === 'indexed',
  ): Promise<void> {
    const areSettled = async () =>
      (await this.ask('page.statusBatch', { page_ids })).results.every((page) => page.found && isSettled(page));
    await until(areSettled, `${page_ids.length} pages are settled`);
  }
}

/** Pages of three topics, two or three each. */
export const library = {
  heron: {
    title: 'The grey heron',
    text: 'Herons are wading birds. The grey heron hunts fish in shallow water and nests in tall trees near rivers.',
  },
  egret: {
    title: 'Egrets',
    text: 'Egrets are white herons, wading birds that hunt fish and frogs in shallow water and nest in trees.',
  },
  stork: {
    title: 'White storks',
    text: 'Storks are large wading birds that nest on roofs and hunt frogs and fish in wet meadows.',
  },
  bread: {
    title: 'Sourdough bread',
    text: 'Sourdough bread needs flour, water, salt and a starter. Knead the dough, let it rise and bake it in a hot oven.',
  },
  rolls: {
    title: 'Bread rolls',
    text: 'For rolls knead flour, yeast, salt and water to a dough, let it rise, shape rolls and bake them in the oven.',
  },
  chess: {
    title: 'Chess openings',
    text: 'In the opening both players develop knights and bishops, castle their king and fight for the centre of the board.',
  },
};

/** Whether the system refused with this code; its classes are those of the compiled modules. */
export function isDomainError(error: unknown, code: string): error is DomainError {
  return error instanceof Error && error.name === 'DomainError' && 'code' in error && error.code === code;
}
