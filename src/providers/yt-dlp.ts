/**
 * Describes videos and lists by yt-dlp (docs/video.md), and downloads the sound of a video. One run per host at a time,
 * with a proxy that enforces the address policy, its own folder and environment, and a Python guard against bypasses.
 */

import { mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closing } from '../compute/closing.ts';
import { addressPolicy } from '../compute/web/address-policy.ts';
import { type Clock, systemClock } from './clock.ts';
import { FetchError } from './fetch-error.ts';
import { openFilteringProxy } from './filtering-proxy.ts';
import { HostRateLimiter } from './host-rate-limiter.ts';
import { unjudgedNetwork } from './network.ts';
import { findProgram, ProgramError, type ProgramResult, runProgram } from './run-program.ts';
import type { WebFetchOptions } from './web-fetch.ts';
import { ytDlpFault } from './yt-dlp-faults.ts';

export interface YtDlpOptions
  extends Pick<YtDlpRun, 'searchPath' | 'tempDir'>,
    Pick<WebFetchOptions, 'allowPrivateHosts' | 'perHostGapMs' | 'network' | 'lookup' | 'clock'> {
  /** Max time per run, ms, without waiting for the host's turn. */
  timeoutMs: number;
}

export interface YtDlpVersion {
  version: string;
  /** Whether the guard works. A build with its own Python has only the proxy option. */
  guarded: boolean;
}

export interface YtDlpRequest {
  signal: AbortSignal;
  /** Fails with `host_waits` if more callers wait for the host. */
  maxAhead: number;
}

export interface SoundRequest extends YtDlpRequest {
  /** Target file, on the disk of `tempDir`; replaced if it exists. */
  path: string;
  /** Max bytes of all downloads of the run. */
  maxBytes: number;
  /** Max time per run, ms, without waiting for the host's turn. */
  timeoutMs: number;
}

export type YtDlp = ReturnType<typeof openYtDlp>;

/** Max traffic of a run. A page of a large site is 1 to 2 MB, and a video takes a few requests. */
const maxTrafficBytes = 100_000_000;
/** Faults after which the whole site is paused. */
const enough: ReadonlySet<string> = new Set(['challenge', 'http_status']);

/** No prompts, and few retries: the job retries. */
const commonArgs = [
  ...['--ignore-config', '--config-locations', '-', '--no-cache-dir', '--no-colors', '--no-progress', '--no-warnings'],
  ...['--socket-timeout', '20', '--retries', '1', '--extractor-retries', '1'],
];
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

/** Start of the sound's file name; the site decides the extension. */
const soundName = 'sound.';
/** The spoken language, at speech quality. Only Python downloaders: ffmpeg would bypass the guard and is hidden. */
const soundArgs = [
  ...['--no-playlist', '--playlist-items', '1', '--format-sort', 'lang,+res,abr:64'],
  ...['--format', '(ba/b)[protocol~="^(?:https?|http_dash_segments|m3u8|m3u8_native)$"]'],
  ...['--downloader', 'native', '--ffmpeg-location', '.', '--fixup', 'never'],
  ...['--fragment-retries', '1', '--abort-on-unavailable-fragment', '--no-part', '--no-mtime', '--quiet'],
  ...['--output', `${soundName}%(ext)s`],
];

const versionArgs = ['--ignore-config', '--version'];
/** For a run without network, such as asking the version: nothing listens at this loopback port. */
const nowhere = { url: 'http://127.0.0.1:9', port: 9 };
const versionLimits = { maxBytes: 16_000_000, timeoutMs: 30_000 };

export function openYtDlp(options: YtDlpOptions) {
  const { searchPath, tempDir, allowPrivateHosts, perHostGapMs, timeoutMs, lookup, clock = systemClock } = options;
  const { network = unjudgedNetwork } = options;
  const where = { searchPath, tempDir, clock };
  const policy = addressPolicy(allowPrivateHosts);
  const turns = new HostRateLimiter(perHostGapMs, clock);

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
      const { maxBytes } = limits;
      const own = { allowPrivateHosts, maxBytes, ...(lookup === undefined ? {} : { lookup }) };
      await using proxy = closing(await openFilteringProxy(own));
      const whole = [...commonArgs, ...args, '--', href];
      return await runYtDlp({ ...where, args: whole, proxy, limits, signal }, (result, dir) => {
        if (result.ended === 0) return use(result, dir);
        const fault = ytDlpFault(result.complaint, proxy.refusal());
        if (fault.code === 'timeout' && !proxy.hasGiven()) throw new FetchError('unreachable', fault.message);
        if (enough.has(fault.code) && fault.retryAfterMs !== undefined) turns.postpone(hostname, fault.retryAfterMs);
        throw fault;
      });
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

  const askVersion = (signal: AbortSignal): Promise<YtDlpVersion> => {
    const run = { ...where, args: versionArgs, proxy: nowhere, limits: versionLimits, signal };
    return runYtDlp(run, async ({ output, ended }, dir) => {
      const version = /^[\w.+-]{1,40}$/.exec(Buffer.from(output.subarray(0, 100)).toString().trim())?.[0];
      if (ended !== 0 || version === undefined)
        throw new FetchError('program_failed', 'yt-dlp does not report its version');
      return { version, guarded: await wasGuarded(dir) };
    });
  };
  /** By file, so that the version of a newly installed program is read. */
  const versions = new Map<string, Promise<YtDlpVersion>>();

  return {
    /** Why it cannot be used, or null. Checks again at each call. */
    missing: () => (findYtDlp(searchPath) === null ? notInstalled : null),
    /** Cached; null if not installed. Errors: FetchError if it does not work; the signal's reason. */
    version: (signal: AbortSignal): Promise<YtDlpVersion | null> => {
      const program = findYtDlp(searchPath);
      if (program === null) return Promise.resolve(null);
      const asked = versions.get(program) ?? askVersion(signal);
      versions.set(program, asked);
      asked.catch(() => versions.delete(program)); // the caller gets the error; the next call tries again
      return asked;
    },
    /** JSON of a video with its captions, or of a list with its first two entries. Errors: FetchError; the signal's reason. */
    describe: (url: string, request: YtDlpRequest) => look(url, describeArgs, request),
    /** JSON of a list, with at most `max` entries from its start or end. Errors: as of `describe`. */
    list: (url: string, request: YtDlpRequest & { max: number; from: 'start' | 'end' }) => {
      const items = request.from === 'start' ? `1:${request.max}` : `-${request.max}:`;
      return look(url, ['--yes-playlist', '--flat-playlist', '--playlist-items', items], request);
    },
    /** Load the sound of the video at the address, with pictures only if necessary. Errors: as of `describe`. */
    loadSound: (url: string, { path, maxBytes, timeoutMs, ...request }: SoundRequest) =>
      run(url, { ...request, args: soundArgs, limits: { maxBytes, timeoutMs } }, async (_result, dir) => {
        const name = (await readdir(dir)).find((each) => each.startsWith(soundName));
        if (name === undefined) throw new FetchError('program_failed', 'yt-dlp loaded no sound');
        await rename(join(dir, name), path);
      }),
  };
}

interface YtDlpRun {
  /** As in PATH. */
  searchPath: string;
  /** Parent of the runs' folders; created if missing. */
  tempDir: string;
  clock: Clock;
  args: readonly string[];
  /** `url` with user and password. */
  proxy: { url: string; port: number };
  /** `maxBytes`: per file written. */
  limits: { maxBytes: number; timeoutMs: number };
  signal: AbortSignal;
}

const programName = 'yt-dlp';
/** Max output. The JSON of a video with automatic captions in 150 languages is about 1 MB. */
const maxOutputBytes = 16_000_000;

/** File that proves that the guard was loaded. */
const guardMark = 'guarded';

/**
 * Python runs a module `sitecustomize` at startup. Its audit hook sees every connection, datagram and look-up of Python
 * code, and can prevent it (PEP 578). Files cannot grow above the limit. It is not a sandbox for hostile code.
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

const notInstalled = `${programName} is not installed (see docs/video.md)`;

/** Null if not installed. Checks again at each call. */
const findYtDlp = (searchPath: string): string | null => findProgram(programName, searchPath);

/** `use` gets output and folder, which is deleted afterwards. Errors: FetchError; the signal's reason; `use`'s. */
async function runYtDlp<T>(
  { searchPath, tempDir, clock, args, proxy, limits, signal }: YtDlpRun,
  use: (result: ProgramResult, dir: string) => Promise<T> | T,
): Promise<T> {
  const program = findYtDlp(searchPath);
  if (program === null) throw new FetchError('program_missing', notInstalled);
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
      input: `--proxy ${proxy.url}\n`, // not an argument, which every user of the machine may see
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
}

async function wasGuarded(dir: string): Promise<boolean> {
  return (await readdir(dir)).includes(guardMark);
}
