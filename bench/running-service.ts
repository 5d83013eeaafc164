/** A real service process for the benches: started from dist/ on a free port, in a folder of its own, stopped at the end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const token = 'bench-token';
/** Linux counts processor time in hundredths of a second. */
const msPerTick = 10;

export interface Answer {
  status: number;
  body: unknown;
  /** From sending to the last byte, ms. */
  ms: number;
}

/** Who sends requests to a service: a holder of one of its tokens. */
export interface Caller {
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface RunningService extends Caller {
  /** From spawn to `readback is ready`, ms. */
  startMs: number;
  /** By another of its tokens. */
  as(token: string): Caller;
  /** Resident memory now, MB. */
  residentMb(): number;
  /** Of it what is no file's, MB. */
  anonymousMb(): number;
  /** Processor time of the process until now, in all its threads, ms. */
  cpuMs(): number;
  /** Stop in order and start again on the same folder; gives the new start time. `between` may work on the folder meanwhile. */
  restart(between?: (dataDir: string) => Promise<void>): Promise<number>;
  stop(): Promise<void>;
}

export async function runService(settings: Record<string, string> = {}): Promise<RunningService> {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const dataDir = mkdtempSync(join(tmpdir(), 'readback-bench-'));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let child: ChildProcess;
  let base: URL;

  const start = async () => {
    const began = performance.now();
    child = spawn(process.execPath, [join(root, 'dist', 'main.js')], {
      env: {
        ...process.env,
        SERVICE_DATA_DIR: dataDir,
        SERVICE_AUTH_TOKEN: token,
        SERVICE_BIND_PORT: '0',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout ?? process.stdin });
    base = await new Promise<URL>((resolve, reject) => {
      lines.on('line', (line) => {
        const entry = JSON.parse(line);
        if (entry.msg === 'readback is ready') resolve(new URL(entry.url));
        else if (entry.level >= 50) process.stderr.write(`${line}\n`);
      });
      child.on('exit', (code) => reject(new Error(`the service left with code ${code}`)));
    });
    return performance.now() - began;
  };
  const stopChild = async () => {
    const left = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await left;
  };

  const startMs = await start();
  const callerOf = (token: string): Caller => ({
    call: (method, path, body) =>
      new Promise((resolve, reject) => {
        const began = performance.now();
        const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
        const headers = {
          authorization: `Bearer ${token}`,
          ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length }),
        };
        const sent = request(new URL(path, base), { method, agent, headers }, (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece) => pieces.push(piece));
          response.on('error', reject);
          response.on('end', () => {
            const ms = performance.now() - began;
            const text = Buffer.concat(pieces).toString();
            const body = response.headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : text;
            resolve({ status: response.statusCode ?? 0, body, ms });
          });
        });
        sent.on('error', reject);
        sent.end(payload);
      }),
  });
  const memoryMb = (line: string) => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Math.round(Number(new RegExp(`${line}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  };
  return {
    startMs,
    ...callerOf(token),
    as: callerOf,
    residentMb: () => memoryMb('VmRSS'),
    anonymousMb: () => memoryMb('RssAnon'),
    cpuMs: () => {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13)
        .map(Number);
      return (user + system) * msPerTick;
    },
    restart: async (between) => {
      await stopChild();
      await between?.(dataDir);
      return start();
    },
    stop: async () => {
      await stopChild();
      agent.destroy();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
