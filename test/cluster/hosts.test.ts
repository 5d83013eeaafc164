/** Three hosts of one library as processes, on a real PostgreSQL: whoever is killed, held up past its lease or cut off with the server, what was acknowledged is there, once. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../src/cluster/database.ts';
import { migrateSchema } from '../../src/cluster/schema.ts';
import { until } from '../process/service.ts';
import { newestFirst, temporaryFolder } from '../scope.ts';
import { openLibrary, quiet } from './opened-library.ts';
import { Postgres, withoutPostgres } from './postgres.ts';

/** Short enough that takeovers are seen; no verdict depends on it. */
const leaseS = 2;

class Host {
  readonly name: string;
  acknowledged: string[] = [];
  servings = 0;
  isLost = false;
  readonly #start: () => ChildProcess;
  #child: ChildProcess;

  constructor(name: string, url: string, dir: string) {
    this.name = name;
    const loader = ['--import', './scripts/tsx-in-threads.mjs'];
    this.#start = () => {
      const args = [...loader, 'test/cluster/writer-process.ts', url, name, dir, String(leaseS)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let rest = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.#read(line.split(' '));
      });
      return child;
    };
    this.#child = this.#start();
  }

  #read([what, , page]: string[]): void {
    if (what === 'acknowledged') this.acknowledged.push(page);
    if (what === 'serving') this.servings++;
    if (what === 'lost') this.isLost = true;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(): Promise<void> {
    this.signal('SIGKILL');
    await until(() => this.#child.exitCode !== null || this.#child.signalCode !== null, `${this.name} has ended`);
  }

  async restart(): Promise<void> {
    await this.end();
    this.isLost = false;
    this.#child = this.#start();
  }
}

test('what three hosts have acknowledged through faults is there, once, and nothing else is', {
  skip: withoutPostgres,
}, async (context) => {
  const scope = newestFirst(context);
  const home = temporaryFolder(scope);
  const server = await Postgres.start();
  scope.after(() => server[Symbol.asyncDispose]());
  const database = await openDatabase({ url: server.url, timeoutMs: 60_000, log: quiet });
  await migrateSchema(database);
  await database.query({ text: `insert into readback.library (name) values ('anna')` });
  const hosts = ['one', 'two', 'three'].map((name) => new Host(name, server.url, join(home, name)));
  scope.after(async () => void (await Promise.all(hosts.map((host) => host.end()))));
  const all = () => hosts.flatMap(({ acknowledged }) => acknowledged);
  /** Commits are acknowledged by a host other than `but`; gives the one. Whoever loses the library because the machine stood still comes back. */
  const going = async (but?: Host): Promise<Host> => {
    const before = new Map(hosts.map((host) => [host, host.acknowledged.length]));
    let found: Host | undefined;
    await until(async () => {
      for (const host of hosts) if (host !== but && host.isLost) await host.restart();
      found = hosts.find((host) => host !== but && host.acknowledged.length > Number(before.get(host)) + 3);
      return found !== undefined;
    }, `a host acknowledges after ${all().length}`);
    assert.ok(found !== undefined);
    return found;
  };

  // The owner is killed in the middle of its commits; another takes over when the lease has ended.
  const killed = await going();
  await killed.end();
  await going(killed);
  await killed.restart();

  // The owner is held up until another has taken over: what it commits when it goes on is refused, and it ends.
  const held = await going();
  held.signal('SIGSTOP');
  await going(held);
  held.signal('SIGCONT');
  await until(() => held.isLost, `${held.name} sees that it has lost the library`);
  await held.restart();

  // Every process of PostgreSQL is killed: the owner goes on where it was, or another does when its lease has ended meanwhile.
  await going();
  server.kill();
  await server.restart();
  await going();

  await Promise.all(hosts.map((host) => host.end()));
  const acknowledged = all();
  await until(async () => {
    const opened = await openLibrary({ database, host: 'checker', dir: join(home, 'checker') });
    if (opened === null) return false;
    const titles = [...opened.store.reader.pages.all()].map(({ title }) => String(title));
    assert.equal(new Set(titles).size, titles.length, 'nothing is there twice');
    const there = new Set(titles);
    assert.deepEqual(
      acknowledged.filter((page) => !there.has(page)),
      [],
      'nothing that was acknowledged is lost',
    );
    // Of each time that a host served at most the last commit was there and not acknowledged: it had ended, or was killed, before it said so.
    const servings = hosts.reduce((sum, host) => sum + host.servings, 0);
    assert.ok(there.size - new Set(acknowledged).size <= servings, 'no more is there than was asked for');
    await opened.store.close();
    return true;
  }, 'the library can be opened');
  await database.close();
});
