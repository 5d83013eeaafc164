/** One run of yt-dlp: in a temporary folder, with a minimal environment, and a Python start-up guard that blocks connections past its proxy. */
import { mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import { FetchError } from './fetch-error.ts';
import { findProgram, ProgramError, type ProgramResult, runProgram } from './run-program.ts';

export interface YtDlpRun {
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
/** The JSON of a video with automatic captions in 150 languages is about 1 MB. */
const maxOutputBytes = 16_000_000;

/** File that proves the guard was loaded. */
const guardMark = 'guarded';

/**
 * Python runs a module `sitecustomize` at startup. Its audit hook sees every connection, datagram and lookup of Python code, and an
 * exception prevents them (PEP 578). Files cannot grow past the limit, even when archives are unpacked. Not a sandbox for hostile code: it keeps a
 * well-meaning program to its proxy.
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

export const notInstalled = `${programName} is not installed (see docs/video.md)`;

/** Null if not installed. Looks again each time. */
export const findYtDlp = (searchPath: string): string | null => findProgram(programName, searchPath);

/**
 * Run it; returns what `use` makes of its output and folder, which is then deleted.
 * Errors: FetchError; the signal's reason; those of `use`.
 */
export async function runYtDlp<T>(
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
}

export async function wasGuarded(dir: string): Promise<boolean> {
  return (await readdir(dir)).includes(guardMark);
}
