/**
 * How long a library is away when the host that serves it is killed: three hosts and a PostgreSQL of its own on this machine, libraries of 200 pages,
 * a client of each that sends a page every 50 ms to a host that lives. Prints JSON: ms from the kill until a page was acknowledged again; to standard
 * error what the hosts logged meanwhile.
 *
 *   npm run bench -- failover --kills 10
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listLibraries } from '../src/cluster/administration.ts';
import { type ClusterOfServices, startCluster } from '../test/cluster/cluster-of-services.ts';
import type { RunningService } from '../test/process/service.ts';
import { CleanUps } from '../test/scope.ts';
import { latency, pageOf } from './http-load.ts';
import { describeMachine } from './machine.ts';
import { openWorkload } from './workload.ts';

const seed = 48;
const wordsPerPage = 560;
const leaseS = 3;
const names = ['anna', 'ben'];
/** Between two pages of a client, ms. */
const sendEveryMs = 50;
/** Between a host that is back and the next kill, ms. */
const quietMs = 4000;
/** A client gives up, ms. */
const giveUpMs = 5000;

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '10' }, pages: { type: 'string', default: '200' } },
});
const [kills, pagesEach] = [Number(values.kills), Number(values.pages)];
const workload = openWorkload({ seed, wordsPerChunk: wordsPerPage });

interface Client {
  name: string;
  token: string;
  /** When a page was acknowledged last, ms. */
  at: number;
}

const scope = new CleanUps();
const living = new Set<RunningService>();
let isOver = false;
let sent = 0;

async function ask({ token }: Client, path: string, body: unknown): Promise<number> {
  const hosts = [...living];
  const host = hosts[sent++ % hosts.length];
  try {
    const answer = await fetch(host.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(giveUpMs),
    });
    await answer.text();
    return answer.status;
  } catch {
    return 0; // killed, or late
  }
}

let made = 0;
const page = () => pageOf(++made, workload.chunkWords(made), 'failover');

async function write(client: Client): Promise<void> {
  while (!isOver) {
    if ((await ask(client, '/v1/pages', page())) === 202) client.at = performance.now();
    await delay(sendEveryMs);
  }
}

async function ownerOf({ database }: ClusterOfServices, name: string): Promise<RunningService | undefined> {
  const library = (await listLibraries(database)).find((each) => each.name === name);
  return [...living].find(({ url }) => url === library?.address);
}

/** Lines of a host's log, each with when it was written, ms after `wall`. */
function tell({ url, output }: RunningService, from: number, wall: number): void {
  for (const line of output.slice(from).split('\n')) {
    if (!line.startsWith('{')) continue;
    const { time, msg, library = '', opening_ms } = JSON.parse(line);
    const steps = opening_ms === undefined ? '' : JSON.stringify(opening_ms);
    process.stderr.write(`  ${new URL(url).port} +${Date.parse(time) - wall} ms ${library} ${msg} ${steps}\n`);
  }
}

try {
  const cluster = await startCluster(scope, { env: { SERVICE_CLUSTER__LEASE_S: String(leaseS) } });
  for (const host of cluster.hosts) living.add(host);
  const clients: Client[] = [];
  for (const name of names) clients.push({ name, token: await cluster.library(name), at: 0 });
  for (const client of clients)
    for (let done = 0; done < pagesEach; )
      if ((await ask(client, '/v1/pages/batch', { pages: Array.from({ length: 50 }, page) })) === 200) done += 50;
  const writing = clients.map(write);
  await delay(quietMs);
  const waits: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const owner = await ownerOf(cluster, names[kill % names.length]);
    if (owner === undefined) throw new Error('nobody serves the library');
    const owned: Client[] = [];
    for (const client of clients) if ((await ownerOf(cluster, client.name)) === owner) owned.push(client);
    const said = new Map(cluster.hosts.map((host) => [host, host.output.length]));
    living.delete(owner);
    const began = performance.now();
    const wall = Date.now();
    await owner.kill();
    const ended = performance.now();
    while (owned.some(({ at }) => at < ended)) await delay(5);
    for (const { name, at } of owned) {
      waits.push(at - began);
      process.stderr.write(`kill ${kill}: ${name} ${Math.round(at - began)} ms\n`);
    }
    for (const host of living) tell(host, said.get(host) ?? 0, wall);
    await owner.start();
    living.add(owner);
    await delay(quietMs);
  }
  isOver = true;
  await Promise.all(writing);
  const limitMs = (leaseS + 2) * 1000;
  console.log(
    JSON.stringify({
      ...{ bench: 'failover', seed, machine: describeMachine(), lease_s: leaseS, pages_each: pagesEach },
      away_ms: latency(waits),
      longest_ms: Math.round(Math.max(...waits)),
      within_lease_and_2_s: waits.filter((ms) => ms <= limitMs).length,
    }),
  );
} finally {
  isOver = true;
  await scope.run();
}
