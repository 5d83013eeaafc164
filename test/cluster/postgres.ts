/** A PostgreSQL server of the tests' own: in a temporary folder, on a free port of loopback, as a user that is not root; killed, started again, and gone after the file. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../process/service.ts';

const versions = '/usr/lib/postgresql';
/** Folder of the newest programs; null where PostgreSQL is not installed. */
const programs = existsSync(versions)
  ? ([...readdirSync(versions)]
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(versions, version, 'bin'))
      .find((bin) => existsSync(join(bin, 'initdb'))) ?? null)
  : null;

/** Why tests of the cluster are skipped; false where they run. */
export const withoutPostgres = programs === null && 'PostgreSQL is not installed (Debian: postgresql)';

export class Postgres {
  readonly url: string;
  readonly #home: string;
  readonly #port: number;

  readonly #connections: number;

  private constructor(home: string, port: number, connections: number) {
    this.#connections = connections;
    this.#home = home;
    this.#port = port;
    this.url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  }

  /** `home`: an empty folder for it, which is emptied again; one of its own unless given. */
  static async start({
    connections = 50,
    home = mkdtempSync(join(tmpdir(), 'readback-postgres-')),
  } = {}): Promise<Postgres> {
    if (process.getuid?.() === 0) execFileSync('chown', ['postgres', home]);
    const server = new Postgres(home, await freePort(), connections);
    server.#run('initdb', ['-D', server.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
    await server.restart();
    return server;
  }

  get #data(): string {
    return join(this.#home, 'data');
  }

  /** Start it, and wait until it answers. What a killed one left still ends meanwhile, and is in the way until then. */
  async restart(): Promise<void> {
    await until(() => this.isStarted(), 'PostgreSQL starts');
  }

  /** Start it; false where it cannot be started, as while it runs. */
  isStarted(): boolean {
    try {
      this.#start();
      return true;
    } catch {
      return false;
    }
  }

  #start(): void {
    const options = `-p ${this.#port} -k ${this.#home} -c listen_addresses=127.0.0.1 -c max_connections=${this.#connections} -c shared_buffers=32MB`;
    this.#run('pg_ctl', ['-D', this.#data, '-l', join(this.#home, 'log'), '-t', '300', '-w', '-o', options, 'start']);
  }

  /** End every process of it at once, as a power cut would. */
  kill(): void {
    const [pid] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(join(this.#data, 'postmaster.pid')))
      this.#run('pg_ctl', ['-D', this.#data, '-m', 'immediate', '-w', 'stop']);
    rmSync(this.#home, { recursive: true, force: true });
  }

  #run(program: string, args: readonly string[]): void {
    const path = join(String(programs), program);
    const [run, ...rest] = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', path] : [path];
    execFileSync(run, [...rest, ...args], { stdio: 'ignore', cwd: '/' });
  }
}

/** A port of loopback that nobody has now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return address.port;
}
