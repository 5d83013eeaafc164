/** A cluster of real services: processes of the program as it is shipped, on one PostgreSQL, each with a folder and an address of its own. */

import { randomBytes } from 'node:crypto';
import { newLibrary, newToken } from '../../src/cluster/administration.ts';
import { type Database, openDatabase } from '../../src/cluster/database.ts';
import { migrateSchema } from '../../src/cluster/schema.ts';
import { defaultLibrary } from '../../src/domain/access.ts';
import { freePort } from '../free-port.ts';
import { RunningService } from '../process/service.ts';
import { newestFirst, type Scope } from '../scope.ts';
import { CutLine } from './cut-line.ts';
import { quiet } from './opened-library.ts';
import { Postgres } from './postgres.ts';

export interface ClusterOfServices {
  server: Postgres;
  database: Database;
  hosts: RunningService[];
  /** The way of each host to PostgreSQL. */
  lines: CutLine[];
  /** A new library; gives a token of it. */
  library(name: string): Promise<string>;
}

/** `env`: of every host, and of each `envOf` that host. `home` and `archives`: of PostgreSQL. The hosts are ready. */
export async function startCluster(
  outer: Scope,
  {
    hosts: count = 3,
    env = {},
    envOf = () => ({}),
    home,
    archives = false,
  }: {
    hosts?: number;
    env?: Record<string, string>;
    envOf?: (host: number) => Record<string, string>;
    home?: string | undefined;
    archives?: boolean;
  } = {},
): Promise<ClusterOfServices> {
  const scope = newestFirst(outer);
  const server = await Postgres.start({ archives, ...(home !== undefined && { home }) });
  scope.after(() => server[Symbol.asyncDispose]());
  const database = await openDatabase({ url: server.url, timeoutMs: 60_000, log: quiet });
  scope.after(() => database.close());
  await migrateSchema(database);
  const hosts: RunningService[] = [];
  const lines: CutLine[] = [];
  for (let at = 0; at < count; at++) {
    const port = await freePort();
    const line = await CutLine.to(server.url);
    scope.after(() => line[Symbol.asyncDispose]());
    lines.push(line);
    hosts.push(
      RunningService.prepare(scope, {
        SERVICE_AUTH_TOKEN: '',
        ...settingsOfHost(line.url, port),
        ...env,
        ...envOf(at),
      }),
    );
  }
  await Promise.all(hosts.map((host) => host.start()));
  const library = async (name: string) => {
    await newLibrary(database, name);
    return newToken(database, { library: name, name: 'test', scopes: ['write'], now: 0 });
  };
  return { server, database, hosts, lines, library };
}

/** A database of its own on a server, with a library `default`: settings of so many hosts that serve it. */
export async function newClusterSettings(serverUrl: string, count: number): Promise<Record<string, string>[]> {
  const name = `cluster_${randomBytes(6).toString('hex')}`;
  const on = async (url: string, use: (database: Database) => Promise<unknown>) => {
    const database = await openDatabase({ url, timeoutMs: 60_000, log: quiet });
    await use(database);
    await database.close();
  };
  await on(serverUrl, (database) => database.query({ text: `create database ${name}` }));
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  await on(url, async (database) => {
    await migrateSchema(database);
    await newLibrary(database, defaultLibrary);
  });
  return Promise.all(Array.from({ length: count }, async () => settingsOfHost(url, await freePort())));
}

const settingsOfHost = (url: string, port: number): Record<string, string> => ({
  SERVICE_BIND_PORT: String(port),
  SERVICE_CLUSTER__DATABASE_URL: url,
  SERVICE_CLUSTER__ADDRESS: `http://127.0.0.1:${port}`,
  SERVICE_CLUSTER__SECRET: 'what the hosts of tests share',
});
