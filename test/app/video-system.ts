/** A system that reads videos from a web on loopback, with the real yt-dlp or with a script that plays it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { PageResponse, PageStatusResponse } from '../../src/domain/page.ts';
import { createWatchRequest, type WatchResponse } from '../../src/domain/watch.ts';
import { findProgram } from '../../src/providers/run-program.ts';
import { until } from '../process/service.ts';
import { fakeProgram } from '../providers/fake-program.ts';
import { temporaryFolder } from '../scope.ts';
import { FeedServer } from './feed-server.ts';
import { WholeSystem } from './whole-system.ts';

/** Why tests with the real program cannot run here, or false. */
export const noYtDlp =
  findProgram('yt-dlp', process.env.PATH ?? '') === null ? 'yt-dlp is not installed (apt-get install yt-dlp)' : false;

/** WebVTT of lines that begin `everyS` seconds apart. */
export function webVtt(lines: readonly string[], everyS: number): string {
  const clock = (s: number) => new Date(s * 1000).toISOString().slice(11, 23);
  const cues = lines.map((line, i) => `${clock(i * everyS)} --> ${clock(i * everyS + everyS - 0.5)}\n${line}\n`);
  return `WEBVTT\n\n${cues.join('\n')}`;
}

export class VideoSystem {
  readonly web: FeedServer;
  readonly system: WholeSystem;
  /** What the script says of addresses, by path. */
  readonly #answers: string;
  readonly #said: Record<string, unknown> = {};

  private constructor(web: FeedServer, system: WholeSystem, answers: string) {
    this.web = web;
    this.system = system;
    this.#answers = answers;
  }

  /** `isReal`: with the real program instead of the script. `env` adds settings. */
  static async start(t: TestContext, isReal: boolean, env: NodeJS.ProcessEnv = {}): Promise<VideoSystem> {
    const web = await FeedServer.start(t);
    const dir = temporaryFolder(t);
    const answers = join(dir, 'answers.json');
    writeFileSync(answers, '{}');
    const system = await WholeSystem.start(t, {
      SERVICE_PROGRAM_PATH: isReal ? process.env.PATH : fakeYtDlp(t, answers),
      SERVICE_FETCH__ALLOW_PRIVATE_HOSTS: '["127.0.0.1", "localhost"]',
      SERVICE_FETCH__VIDEO_HOSTS: '["127.0.0.1"]',
      SERVICE_FETCH__VIDEO_TIMEOUT_S: '110',
      SERVICE_WATCH__POLL_TICK_ENABLED: 'false',
      SERVICE_JOBS__MAX_ATTEMPTS: '2',
      SERVICE_JOBS__BACKOFF_BASE_S: '100000',
      ...env,
    });
    return new VideoSystem(web, system, answers);
  }

  /** The same web under a name that is not among the hosts of videos. */
  get elsewhere(): string {
    return this.web.url.replace('127.0.0.1', 'localhost');
  }

  /** From now on the script says this of a path: JSON, or as a text its complaint; `sound` of it is what it loads, in Base64, or "never" for what it never ends to load. Of others it says that they are no video. */
  say(path: string, answer: unknown): void {
    this.#said[path] = answer;
    writeFileSync(this.#answers, JSON.stringify(this.#said));
  }

  /** Hand a page in by its address and wait for the end of its first attempt. */
  async read(url: string): Promise<{ page: PageResponse; status: PageStatusResponse; page_id: string }> {
    const taken = await this.system.ask('page.ingest', { url });
    assert.ok('page_id' in taken);
    return this.settled(taken.page_id);
  }

  async settled(page_id: string): Promise<{ page: PageResponse; status: PageStatusResponse; page_id: string }> {
    const status = () => this.system.ask('page.status', { page_id });
    await until(
      async () => ['indexed', 'failed', 'dead'].includes((await status()).status),
      `${page_id} has been read`,
    );
    return { page_id, page: await this.system.page(page_id), status: await status() };
  }

  watch(url: string, config: Record<string, string> | null = null): Promise<WatchResponse> {
    return this.system.ask('watch.create', createWatchRequest.parse({ url, kind: 'video', config }));
  }

  /** Poll and wait for the end of it. */
  async poll(watch_id: string): Promise<WatchResponse> {
    const { job_id } = await this.system.ask('watch.run', { watch_id });
    const ended = async () =>
      (await this.system.ask('job.list', { kind: 'poll_watch', limit: 100 })).jobs.some(
        (job) => job.job_id === job_id && (job.status === 'done' || job.status === 'dead'),
      );
    await until(ended, 'the poll has ended');
    return this.system.ask('watch.get', { watch_id });
  }
}

function fakeYtDlp(t: TestContext, answers: string): string {
  return fakeProgram(
    t,
    'yt-dlp',
    `const answer = JSON.parse(fs.readFileSync(${JSON.stringify(answers)}))[new URL(args.at(-1)).pathname];
    const complaint = answer === undefined ? 'ERROR: Unsupported URL: ' + args.at(-1) : answer;
    if (typeof complaint === 'string') { fs.writeSync(2, complaint); process.exit(1); }
    const output = args.indexOf('--output');
    if (output < 0) process.stdout.write(JSON.stringify(answer));
    else if (answer.sound === 'never') setInterval(() => {}, 1000);
    else if (answer.sound !== undefined) fs.writeFileSync(args[output + 1].replace('%(ext)s', 'webm'), Buffer.from(answer.sound, 'base64'));
    else { fs.writeSync(2, 'ERROR: Requested format is not available.'); process.exit(1); }`,
  );
}
