/**
 * The adapter of yt-dlp, a program that knows how the sites of videos work (docs/video.md). It is asked what a video or a list of
 * videos is, as JSON, and loads none of them; or to load the sound of one video into a file. Each run has a proxy of its own that the
 * address policy holds for; how a run is kept to it is in yt-dlp-run.ts.
 *
 * One run of a host at a time, a gap between two. What the JSON means is read elsewhere (src/compute/video).
 */
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { addressPolicy } from '../compute/web/address-policy.ts';
import { type Clock, systemClock } from './clock.ts';
import { FetchError } from './fetch-error.ts';
import { openFilteringProxy } from './filtering-proxy.ts';
import { HostRateLimiter } from './host-rate-limiter.ts';
import { type Network, unjudgedNetwork } from './network.ts';
import type { Lookup } from './resolve-host.ts';
import type { ProgramResult } from './run-program.ts';
import { ytDlpFault } from './yt-dlp-faults.ts';
import { wasGuarded, type YtDlpRun, YtDlpRunner } from './yt-dlp-run.ts';

export interface YtDlpOptions {
  /** Where it is looked for, as in PATH. */
  searchPath: string;
  /** Holds the folders of runs; made where it is lacking. */
  tempDir: string;
  /** `fetch.allow_private_hosts`. */
  allowPrivateHosts: readonly string[];
  perHostGapMs: number;
  /** Of one run, ms; the wait for the host's turn does not count. */
  timeoutMs: number;
  /** Tells a host that is down from a network that is; not asked about hosts in `allowPrivateHosts`. */
  network?: Network;
  lookup?: Lookup;
  clock?: Clock;
}

export interface YtDlpVersion {
  version: string;
  /** Whether it loads the guard; a build that brings its own Python does not, and only has its option to keep to the proxy. */
  guarded: boolean;
}

export interface YtDlpRequest {
  signal: AbortSignal;
  /** How many may wait for the host's turn before this; where more do, it fails with `host_waits`. */
  maxAhead: number;
}

export interface SoundRequest extends YtDlpRequest {
  /** The file that the sound becomes: on the disk of `tempDir`; one that is there is replaced. */
  path: string;
  /** Of all that the run loads, what it looks at on the way included. */
  maxBytes: number;
  /** Of the run, ms; the wait for the host's turn does not count. */
  timeoutMs: number;
}

export interface YtDlp {
  /** Why it cannot be used, in a sentence, or null. Looks again each time. */
  missing(): string | null;
  /** Asked once; null where it is not installed. Errors: FetchError where it does not work; the signal's reason. */
  version(signal: AbortSignal): Promise<YtDlpVersion | null>;
  /** What is at the address, as JSON: a video with its captions, or a list with its first two. Errors: FetchError; the signal's reason. */
  describe(url: string, request: YtDlpRequest): Promise<Uint8Array>;
  /** The list at the address, as JSON, with at most `max` entries of its beginning or its end. Errors: as of `describe`. */
  list(url: string, request: YtDlpRequest & { max: number; from: 'start' | 'end' }): Promise<Uint8Array>;
  /** Load the sound of the one video at the address, with its pictures only where it is not to be had without. Errors: as of `describe`. */
  loadSound(url: string, request: SoundRequest): Promise<void>;
}

/** A page of a large site is 1 to 2 MB, and one video takes a few requests. */
const maxTrafficBytes = 100_000_000;
/** A site that says that it has had enough is left alone, by everybody. */
const enough: ReadonlySet<string> = new Set(['challenge', 'http_status']);

/** Asks nobody, and tries again less often than by itself: the job does that. */
const commonArgs = [
  ...['--ignore-config', '--config-locations', '-', '--no-cache-dir', '--no-colors', '--no-progress', '--no-warnings'],
  ...['--socket-timeout', '20', '--retries', '1', '--extractor-retries', '1'],
];
/** Loads nothing, writes nothing. */
const lookArgs = ['--skip-download', '--ignore-no-formats-error', '--no-check-formats', '--dump-single-json'];
const describeArgs = [
  '--no-playlist',
  '--playlist-items',
  '1:2',
  '--write-subs',
  '--write-auto-subs',
  '--sub-langs',
  'all',
];

/** What the file of a sound begins with; the site says how it ends. */
const soundName = 'sound.';
/**
 * The sound alone, else with the smallest pictures; of the language that is spoken, and no finer than speech needs. Only by downloaders
 * that are Python code, which the guard holds; ffmpeg would go past the proxy and is not to be found in the folder of the run.
 */
const soundArgs = [
  ...['--no-playlist', '--playlist-items', '1', '--format-sort', 'lang,+res,abr:64'],
  ...['--format', '(ba/b)[protocol~="^(?:https?|http_dash_segments|m3u8|m3u8_native)$"]'],
  ...['--downloader', 'native', '--ffmpeg-location', '.', '--fixup', 'never'],
  ...['--fragment-retries', '1', '--abort-on-unavailable-fragment', '--no-part', '--no-mtime', '--quiet'],
  ...['--output', `${soundName}%(ext)s`],
];

const versionArgs = ['--ignore-config', '--version'];
/** To say its version it needs no network; nothing listens at this port of loopback. */
const nowhere = { url: 'http://127.0.0.1:9', port: 9 };
/** There is nothing to load, nor a file to write. */
const versionLimits = { maxBytes: 16_000_000, timeoutMs: 30_000 };

export function openYtDlp(options: YtDlpOptions): YtDlp {
  const { searchPath, tempDir, allowPrivateHosts, perHostGapMs, timeoutMs, lookup, clock = systemClock } = options;
  const { network = unjudgedNetwork } = options;
  const runner = new YtDlpRunner({ searchPath, tempDir, clock });
  const policy = addressPolicy(allowPrivateHosts);
  const turns = new HostRateLimiter(perHostGapMs, clock);

  /** Errors: FetchError; the signal's reason. */
  const run = async <T>(
    url: string,
    { args, limits, signal, maxAhead }: YtDlpRequest & Pick<YtDlpRun, 'args' | 'limits'>,
    use: (result: ProgramResult, dir: string) => Promise<T> | T,
  ): Promise<T> => {
    const { hostname, protocol, href } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw new FetchError('unsupported_scheme', `unsupported scheme ${protocol.slice(0, 20).replace(/:$/, '')}`);
    }
    const isListed = policy.lists(hostname);
    const endTurn = isListed ? () => {} : await turns.take(hostname, signal, maxAhead);
    const runBehindProxy = async (): Promise<T> => {
      const proxy = await openFilteringProxy({
        allowPrivateHosts,
        maxBytes: limits.maxBytes,
        ...(lookup === undefined ? {} : { lookup }),
      });
      try {
        return await runner.run(
          { args: [...commonArgs, ...args, '--', href], proxy, limits, signal },
          (result, dir) => {
            if (result.ended === 0) return use(result, dir);
            const fault = ytDlpFault(result.complaint, proxy.refusal());
            if (fault.code === 'timeout' && !proxy.hasGiven()) throw new FetchError('unreachable', fault.message);
            if (enough.has(fault.code) && fault.retryAfterMs !== undefined)
              turns.postpone(hostname, fault.retryAfterMs);
            throw fault;
          },
        );
      } finally {
        await proxy.close();
      }
    };
    try {
      return await (isListed ? runBehindProxy() : network.contact(runBehindProxy));
    } finally {
      endTurn();
    }
  };
  const look = (url: string, args: readonly string[], request: YtDlpRequest): Promise<Uint8Array> => {
    const limits = { maxBytes: maxTrafficBytes, timeoutMs };
    return run(url, { ...request, args: [...lookArgs, ...args], limits }, ({ output }) => output);
  };

  const askVersion = (signal: AbortSignal): Promise<YtDlpVersion> =>
    runner.run({ args: versionArgs, proxy: nowhere, limits: versionLimits, signal }, async ({ output, ended }, dir) => {
      const version = /^[\w.+-]{1,40}$/.exec(Buffer.from(output.subarray(0, 100)).toString().trim())?.[0];
      if (ended !== 0 || version === undefined)
        throw new FetchError('program_failed', 'yt-dlp does not say its version');
      return { version, guarded: await wasGuarded(dir) };
    });
  /** By the file: one that is installed meanwhile is asked. */
  const versions = new Map<string, Promise<YtDlpVersion>>();

  return {
    missing: () => runner.missing(),
    version: (signal) => {
      const program = runner.program();
      if (program === null) return Promise.resolve(null);
      const asked = versions.get(program) ?? askVersion(signal);
      versions.set(program, asked);
      asked.catch(() => versions.delete(program)); // whoever asked is told; the next one asks again
      return asked;
    },
    describe: (url, request) => look(url, describeArgs, request),
    list: (url, request) => {
      const items = request.from === 'start' ? `1:${request.max}` : `-${request.max}:`;
      return look(url, ['--yes-playlist', '--flat-playlist', '--playlist-items', items], request);
    },
    loadSound: (url, { path, maxBytes, timeoutMs, ...request }) =>
      run(url, { ...request, args: soundArgs, limits: { maxBytes, timeoutMs } }, async (_result, dir) => {
        const name = (await readdir(dir)).find((each) => each.startsWith(soundName));
        if (name === undefined) throw new FetchError('program_failed', 'yt-dlp loaded no sound');
        await rename(join(dir, name), path);
      }),
  };
}
