/** Runs a program without a shell, with limits and an explicit environment, in a process group killed at the end. */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

export interface ProgramRun {
  /** Absolute. */
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  input?: string;
  maxOutputBytes: number;
  /** As of nice(1); default 10. */
  nice?: number;
  signal: AbortSignal;
}

export interface ProgramResult {
  output: Uint8Array;
  /** The end of its standard error. */
  complaint: string;
  ended: number | NodeJS.Signals;
}

export class ProgramError extends Error {
  readonly code: 'not_started' | 'too_much_output';

  constructor(code: ProgramError['code'], message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'ProgramError';
    this.code = code;
  }
}

/** Max time that escaped child processes may keep its pipes open after its end, ms. */
const heldPipesMs = 1000;
const maxComplaintBytes = 8192;

/** Finds a program in `searchPath`, as a shell does in PATH; a path is used as is. Null if it is not executable. */
export function findProgram(name: string, searchPath: string): string | null {
  if (isAbsolute(name)) return isRunnable(name) ? name : null;
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isRunnable) ?? null;
}

/** An exit code is not an error. Errors: ProgramError; the signal's reason. */
export function runProgram(run: ProgramRun): Promise<ProgramResult> {
  const { program, args, env, cwd, input = '', maxOutputBytes, nice = 10, signal } = run;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    let size = 0;
    let complaint = Buffer.alloc(0);
    let failure: ProgramError | null = null;
    const kill = () => killGroup(child.pid);
    signal.addEventListener('abort', kill, { once: true });
    child.once('spawn', () => unlessGone(() => setPriority(child.pid ?? 0, nice)));
    child.stdin.on('error', () => {}); // the program need not read its input; its exit code shows the result
    child.stdin.end(input);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) output.push(chunk);
      else {
        failure ??= new ProgramError('too_much_output', `wrote more than ${maxOutputBytes} bytes`);
        kill();
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = Buffer.concat([complaint, chunk]).subarray(-maxComplaintBytes);
    });
    child.once('error', (error) => {
      failure ??= new ProgramError('not_started', `could not be started: ${error.message}`, { cause: error });
    });
    let letGo: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      kill(); // processes that it leaves would keep its pipes open
      const close = () => {
        child.stdout.destroy();
        child.stderr.destroy();
      };
      // After a turn of the event loop, so that pending data is read even if this process was blocked.
      letGo = setTimeout(() => setImmediate(close), heldPipesMs);
    });
    child.once('close', (code, by) => {
      clearTimeout(letGo);
      signal.removeEventListener('abort', kill);
      if (signal.aborted) reject(signal.reason);
      else if (failure !== null) reject(failure);
      else resolve({ output: Buffer.concat(output), complaint: complaint.toString(), ended: by ?? code ?? 0 });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid !== undefined) unlessGone(() => process.kill(-pid, 'SIGKILL'));
}

function unlessGone(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('ESRCH'))) throw error; // only their messages agree
  }
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // These calls throw only if the answer is no.
    return false;
  }
}
