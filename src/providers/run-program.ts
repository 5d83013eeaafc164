/**
 * Runs another program with bounds on its time and its output, and nothing of this process's environment. The program gets a process
 * group of its own, which is killed as a whole at the end, so that nothing that it started outlives it, and what has left the group is
 * not waited for. No shell has a part in it.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

export interface ProgramRun {
  /** Absolute. */
  program: string;
  args: readonly string[];
  /** All of its environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** What it reads from its standard input; nothing where left out. */
  input?: string;
  /** Of its standard output. */
  maxOutputBytes: number;
  /** Scheduling priority, as of nice(1); default 10. */
  nice?: number;
  signal: AbortSignal;
}

export interface ProgramResult {
  output: Uint8Array;
  /** The end of what it wrote to its standard error. */
  complaint: string;
  /** Its exit code, or the signal that ended it. */
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

/** How long what a program has started, and is in its group no more, may hold its pipes open after its end, ms. */
const heldPipesMs = 1000;
/** What it complains of last is what ends it. */
const maxComplaintBytes = 8192;

/**
 * The file that a program's name stands for: looked for in the folders of `searchPath`, as a shell does with PATH; a path is taken as it
 * is. Null where there is none that may be run.
 */
export function findProgram(name: string, searchPath: string): string | null {
  if (isAbsolute(name)) return isRunnable(name) ? name : null;
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isRunnable) ?? null;
}

/** Run it to its end. An exit code is no error. Errors: ProgramError; the signal's reason. */
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
    child.stdin.on('error', () => {}); // it need not read what it is given: its exit code says how it fared
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
      kill(); // what it leaves behind would hold its pipes open
      const close = () => {
        child.stdout.destroy();
        child.stderr.destroy();
      };
      // Behind a look at the pipes: where this process was held up for so long, what is in them is still read.
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

/** Do something to a process that may have ended already. */
function unlessGone(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('ESRCH'))) throw error; // the two calls agree in the message only
  }
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Neither call has another way to say no.
    return false;
  }
}
