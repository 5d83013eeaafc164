/** A library as a host opens it: claimed, its file brought up, its commits on their way to PostgreSQL. */
import { join } from 'node:path';
import { bringUpCopy } from '../../src/cluster/bring-up-copy.ts';
import { DatabaseLog } from '../../src/cluster/commit-log.ts';
import { type Claim, type Database, LibraryRows } from '../../src/cluster/database.ts';
import { Lease } from '../../src/cluster/lease.ts';
import { storeFormat } from '../../src/store/environment.ts';
import { Store } from '../../src/store/store.ts';
import type { Position } from '../../src/store/stored-rows.ts';

export const quiet = { info: () => {}, warn: () => {} };

export interface OpenedLibrary {
  claim: Claim;
  lease: Lease;
  store: Store;
  commits: DatabaseLog;
  rows: LibraryRows;
  /** What the log said on the way. */
  said: string[];
}

export interface OpenOptions {
  database: Database;
  host: string;
  /** Folder of the host. */
  dir: string;
  name?: string;
  leaseS?: number;
  /** Renew the lease from the claim on, by the clock of the machine, until the signal. */
  renewing?: AbortSignal;
  now?: () => number;
}

/** Null where another host has it. */
export async function openLibrary({
  database,
  host,
  dir,
  name = 'anna',
  leaseS = 600,
  renewing,
  now = () => performance.now(),
}: OpenOptions): Promise<OpenedLibrary | null> {
  const rows = new LibraryRows(database, {
    host: { id: host, address: `http://${host}` },
    leaseS,
    format: storeFormat,
  });
  const sentAt = now();
  const claim = await rows.claim(name);
  if (claim === null) return null;
  const said: string[] = [];
  const say = (_: object, message: string) => void said.push(message);
  const lease = new Lease({ leaseS, sentAt, now });
  if (renewing !== undefined) renewUntil(renewing, { rows, claim, lease, leaseS });
  const position: Position = { ...claim };
  const commits = new DatabaseLog({ database, lease, leaseS, position, log: quiet });
  const path = join(dir, name);
  await bringUpCopy({
    ...{ path, claim, database, rows, commits },
    newStoreId: () => `made by ${host}`,
    ending: new AbortController().signal,
    log: { info: say, warn: say },
  });
  const store = await Store.open(path, () => 'never', { log: commits });
  return { claim, lease, store, commits, rows, said };
}

function renewUntil(
  ended: AbortSignal,
  { rows, claim, lease, leaseS }: { rows: LibraryRows; claim: Claim; lease: Lease; leaseS: number },
): void {
  const timer = setInterval(() => {
    const sentAt = lease.now();
    rows.renew([claim]).then(
      (mine) => {
        if (mine.get(claim.library) === true) lease.extend(sentAt);
      },
      () => {}, // the lease says when it is too late
    );
  }, leaseS * 250);
  ended.addEventListener('abort', () => clearInterval(timer), { once: true });
}
