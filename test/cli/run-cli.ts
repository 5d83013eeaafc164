/** The `readback` command as a process of its own, built when stale, on the data folder of a test. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run } from '../../src/cli/run.ts';
import { patienceMs, tinyEncoder } from '../process/service.ts';

const root = join(import.meta.dirname, '../..');
const ownVariables = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SERVICE_') && name !== 'NODE_OPTIONS'),
  );

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Record<string, string>;
  /** Null: an open pipe. */
  input?: string | null;
}

export class Cli {
  readonly env: Record<string, string>;

  /** `home` holds the data folder `data`, and where the command keeps its own state. */
  constructor(home: string, env: Record<string, string> = {}) {
    this.env = {
      ...tinyEncoder,
      SERVICE_DATA_DIR: join(home, 'data'),
      XDG_STATE_HOME: join(home, 'state'),
      // Nobody listens there unless a test says so.
      SERVICE_BIND_PORT: '1',
      ...env,
    };
  }

  /** A process that goes on until it ends or is killed. */
  spawn(args: readonly string[], { env = {}, input }: CliOptions = {}): ChildProcess {
    const child = spawn(process.execPath, [join(root, 'dist', 'cli', 'main.js'), ...args], {
      env: { ...ownVariables(), ...this.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    if (typeof input === 'string') child.stdin?.end(input);
    return child;
  }

  async run(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
    const child = this.spawn(args, options);
    let [stdout, stderr] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    await once(child, 'close');
    clearTimeout(patience);
    return { code: child.exitCode, stdout, stderr };
  }

  /** A run with `--json` that has to end with this code. */
  async json<Answer>(args: readonly string[], code = 0, options: CliOptions = {}): Promise<Answer> {
    const run = await this.run(['--json', ...args], options);
    if (run.code !== code) throw new Error(`${args.join(' ')} ended with ${run.code}:\n${run.stdout}\n${run.stderr}`);
    return JSON.parse(run.stdout) as Answer;
  }
}

/** Runs in this process, which takes a hundredth of the time: all commands but `serve`, and those that a test kills or that may die of a damaged store. */
export class CliHere extends Cli {
  override async run(args: readonly string[], { env = {}, input }: CliOptions = {}): Promise<CliRun> {
    const [stdout, stderr] = [1, 2].map(() => Object.assign(new PassThrough(), { isTTY: false }));
    const said = [stdout, stderr].map((stream) => text(stream));
    const code = await run({
      args,
      env: { ...ownVariables(), ...this.env, ...env },
      stdin: Readable.from([Buffer.from(input ?? '')]),
      stdout,
      stderr,
      signal: new AbortController().signal,
      onCommand: () => {},
      serve: () => assert.fail('a service has a process'),
    });
    for (const stream of [stdout, stderr]) stream.end();
    const [out, err] = await Promise.all(said);
    return { code: code ?? null, stdout: out, stderr: err };
  }
}
