/** A PostgreSQL server of the tests' own: in a temporary folder, on a free port of loopback, as a user that is not root; killed, started again, and gone after the file. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
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
  readonly #settings: readonly string[];

  private constructor(home: string, port: number, settings: readonly string[]) {
    this.#settings = settings;
    this.#home = home;
    this.#port = port;
    this.url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  }

  /** `home`: an empty folder for it, which is emptied again; one of its own unless given. `archives`: it keeps all of its log, for `restore`. */
  static async start({
    connections = 50,
    home = mkdtempSync(join(tmpdir(), 'readback-postgres-')),
    archives = false,
  } = {}): Promise<Postgres> {
    const archive = join(home, 'archive');
    mkdirSync(archive);
    if (process.getuid?.() === 0) execFileSync('chown', ['postgres', home, archive]);
    const keeps = [`archive_mode=on`, `archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`];
    const settings = [`max_connections=${connections}`, ...(archives ? keeps : [])];
    const server = new Postgres(home, await freePort(), settings);
    server.#run('initdb', ['-N', '-D', server.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
    await server.restart();
    return server;
  }

  get #data(): string {
    return join(this.#home, 'data');
  }

  get #base(): string {
    return join(this.#home, 'base');
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
    const settings = ['listen_addresses=127.0.0.1', 'shared_buffers=32MB', ...this.#settings];
    const options = `-p ${this.#port} -k ${this.#home} ${settings.map((each) => `-c '${each}'`).join(' ')}`;
    this.#run('pg_ctl', ['-D', this.#data, '-l', join(this.#home, 'log'), '-t', '300', '-w', '-o', options, 'start']);
  }

  /** End every process of it at once, as a power cut would. */
  kill(): void {
    const [pid] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
  }

  /** Take a base backup, in the place of an earlier one. */
  backUp(): void {
    rmSync(this.#base, { recursive: true, force: true });
    this.#run('pg_basebackup', ['-d', this.url, '-D', this.#base, '-X', 'none', '-c', 'fast']);
  }

  /** Go back to a named restore point after the base backup, as an operator does: another server, of the backup and the archived log. It takes writes then. */
  async restore(restorePoint: string): Promise<void> {
    this.#run('pg_ctl', ['-D', this.#data, '-m', 'fast', '-t', '600', '-w', 'stop']); // it ends when all of its log is archived
    rmSync(this.#data, { recursive: true });
    renameSync(this.#base, this.#data);
    const settings = {
      restore_command: `cp ${join(this.#home, 'archive')}/%f %p`,
      recovery_target_name: restorePoint,
      recovery_target_action: 'promote',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.#data, 'postgresql.auto.conf'), lines.join(''));
    writeFileSync(join(this.#data, 'recovery.signal'), '');
    await this.restart();
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
