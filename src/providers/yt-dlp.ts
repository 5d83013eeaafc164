/**
 * The adapter of yt-dlp, a program that knows how the sites of videos work (docs/video.md). It is asked what a video or a list of
 * videos is, as JSON, and loads none of them; or to load the sound of one video into a file. Each run has a folder of its own that goes with it, an environment that holds nothing of
 * this process, and a proxy of its own that the address policy holds for; a guard in Python's start-up keeps it from going past that.
 *
 * One run of a host at a time, a gap between two. What the JSON means is read elsewhere (src/compute/video).
 */
import { mkdirSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressPolicy } from '../compute/web/address-policy.ts';
import { type Clock, systemClock } from './clock.ts';
import { FetchError } from './fetch-error.ts';
import { openFilteringProxy } from './filtering-proxy.ts';
import { HostTurns } from './host-turns.ts';
import type { Lookup } from './resolve-host.ts';
import { findProgram, ProgramError, type ProgramResult, runProgram } from './run-program.ts';
import { ytDlpFault } from './yt-dlp-faults.ts';

export interface YtDlpOptions {
  /** Where it is looked for, as in PATH. */
  searchPath: string;
  /** Holds the folders of runs; emptied here, so nobody else may use it. */
  tempDir: string;
  /** `fetch.allow_private_hosts`. */
  allowPrivateHosts: readonly string[];
  perHostGapMs: number;
  /** Of one run, ms; the wait for the host's turn does not count. */
  timeoutMs: number;
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

interface RunInput {
  args: readonly string[];
  proxy: { url: string; port: number };
  limits: { maxBytes: number; timeoutMs: number };
  signal: AbortSignal;
}

const ytDlpProgram = 'yt-dlp';
/** The JSON of a video with automatic captions in 150 languages is about 1 MB. */
const maxOutputBytes = 16_000_000;
/** A page of a large site is 1 to 2 MB, and one video takes a few requests. */
const maxTrafficBytes = 100_000_000;
const versionLimits = { maxBytes: maxOutputBytes, timeoutMs: 30_000 };
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
/** The file that tells that the guard was loaded. */
const guardMark = 'guarded';

/**
 * Python runs a module called `sitecustomize` at its start. Its audit hook sees every connection, datagram and lookup that Python code makes, and
 * an exception out of it prevents them (PEP 578). No file may grow larger than what may be loaded, whatever is unpacked into it. That is no prison for hostile code: it holds a program that means well to its proxy.
 */
const guard = `import os, resource, sys
_most = int(os.environ['READBACK_MAX_FILE_BYTES'])
resource.setrlimit(resource.RLIMIT_FSIZE, (_most, _most))
_port = int(os.environ['READBACK_PROXY_PORT'])
def _only_the_proxy(event, args):
    if event == 'socket.connect':
        allowed = isinstance(args[1], tuple) and tuple(args[1][:2]) == ('127.0.0.1', _port)
    elif event in ('socket.sendto', 'socket.sendmsg'):
        allowed = args[1] is None
    elif event in ('socket.getaddrinfo', 'socket.gethostbyname'):
        allowed = args[0] in (None, '127.0.0.1', b'127.0.0.1')
    else:
        return
    if not allowed:
        raise PermissionError('only the proxy may be connected to')
sys.addaudithook(_only_the_proxy)
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '${guardMark}'), 'w').close()
`;

export function openYtDlp(options: YtDlpOptions): YtDlp {
  const { searchPath, tempDir, allowPrivateHosts, perHostGapMs, timeoutMs, lookup, clock = systemClock } = options;
  // What a process that was killed has left.
  rmSync(tempDir, { recursive: true, force: true });
  const policy = addressPolicy(allowPrivateHosts);
  const turns = new HostTurns(perHostGapMs, clock);
  const missing = () =>
    findProgram(ytDlpProgram, searchPath) === null ? `${ytDlpProgram} is not installed (see docs/video.md)` : null;

  /** Run it in a folder of its own. Errors: FetchError; the signal's reason. */
  const runIn = async <T>(
    { args, proxy, limits, signal }: RunInput,
    use: (result: ProgramResult, dir: string) => Promise<T> | T,
  ): Promise<T> => {
    const program = findProgram(ytDlpProgram, searchPath);
    if (program === null) throw new FetchError('program_missing', missing() ?? '');
    mkdirSync(tempDir, { recursive: true, mode: 0o700 });
    const dir = await mkdtemp(join(tempDir, 'run-'));
    const late = new FetchError('timeout', `timed out after ${limits.timeoutMs / 1000} s`);
    const stop = new AbortController();
    const cancel = clock.after(limits.timeoutMs, () => stop.abort(late));
    try {
      await writeFile(join(dir, 'sitecustomize.py'), guard);
      const result = await runProgram({
        program,
        args,
        env: {
          PATH: searchPath,
          HOME: dir,
          TMPDIR: dir,
          LANG: 'C.UTF-8',
          PYTHONPATH: dir,
          PYTHONDONTWRITEBYTECODE: '1',
          YTDLP_NO_PLUGINS: '1',
          READBACK_PROXY_PORT: String(proxy.port),
          READBACK_MAX_FILE_BYTES: String(limits.maxBytes),
        },
        cwd: dir,
        input: `--proxy ${proxy.url}\n`, // not among the arguments, which everybody on the machine may see
        maxOutputBytes,
        signal: AbortSignal.any([signal, stop.signal]),
      });
      return await use(result, dir);
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      throw new FetchError('program_failed', `yt-dlp ${error.message}`, {
        cause: error,
        permanent: error.code === 'too_much_output',
      });
    } finally {
      cancel();
      await rm(dir, { recursive: true, force: true });
    }
  };

  /** Errors: FetchError; the signal's reason. */
  const run = async <T>(
    url: string,
    { args, limits, signal, maxAhead }: YtDlpRequest & Pick<RunInput, 'args' | 'limits'>,
    use: (result: ProgramResult, dir: string) => Promise<T> | T,
  ): Promise<T> => {
    const { hostname, protocol, href } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw new FetchError('unsupported_scheme', `unsupported scheme ${protocol.slice(0, 20).replace(/:$/, '')}`);
    }
    const endTurn = policy.lists(hostname) ? () => {} : await turns.take(hostname, signal, maxAhead);
    try {
      const proxy = await openFilteringProxy({
        allowPrivateHosts,
        maxBytes: limits.maxBytes,
        ...(lookup === undefined ? {} : { lookup }),
      });
      try {
        return await runIn({ args: [...commonArgs, ...args, '--', href], proxy, limits, signal }, (result, dir) => {
          if (result.ended === 0) return use(result, dir);
          const fault = ytDlpFault(result.complaint, proxy.refusal());
          if (enough.has(fault.code) && fault.retryAfterMs !== undefined) turns.postpone(hostname, fault.retryAfterMs);
          throw fault;
        });
      } finally {
        await proxy.close();
      }
    } finally {
      endTurn();
    }
  };
  const look = (url: string, args: readonly string[], request: YtDlpRequest): Promise<Uint8Array> => {
    const limits = { maxBytes: maxTrafficBytes, timeoutMs };
    return run(url, { ...request, args: [...lookArgs, ...args], limits }, ({ output }) => output);
  };

  const askVersion = (signal: AbortSignal): Promise<YtDlpVersion> =>
    runIn({ args: versionArgs, proxy: nowhere, limits: versionLimits, signal }, async ({ output, ended }, dir) => {
      const version = /^[\w.+-]{1,40}$/.exec(Buffer.from(output.subarray(0, 100)).toString().trim())?.[0];
      if (ended !== 0 || version === undefined)
        throw new FetchError('program_failed', 'yt-dlp does not say its version');
      return { version, guarded: (await readdir(dir)).includes(guardMark) };
    });
  /** By the file: one that is installed meanwhile is asked. */
  const versions = new Map<string, Promise<YtDlpVersion>>();

  return {
    missing,
    version: (signal) => {
      const program = findProgram(ytDlpProgram, searchPath);
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
