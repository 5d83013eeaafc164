/** The `readback` command as a process of its own, built when stale, on the data folder of a test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { patienceMs, tinyEncoder } from '../process/service.ts';

const root = join(import.meta.dirname, '../..');

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Record<string, string>;
  input?: string;
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
    const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SERVICE_') && name !== 'NODE_OPTIONS');
    const child = spawn(process.execPath, [join(root, 'dist', 'cli', 'main.js'), ...args], {
      env: { ...Object.fromEntries(own), ...this.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    if (input !== undefined) child.stdin?.end(input);
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
