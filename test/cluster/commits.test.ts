/** Commits of a library in a real PostgreSQL: what is there after takeovers, lost connections, a killed server, and hosts that come back too late. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { discardImport, endImport, newLibrary, releaseLibrary, setState } from '../../src/cluster/administration.ts';
import { Credentials } from '../../src/cluster/credentials.ts';
import { type Commit, type Database, LibraryRows, openDatabase, type Query } from '../../src/cluster/database.ts';
import { migrateSchema, requireSchema, schemaVersion } from '../../src/cluster/schema.ts';
import { erasePage } from '../../src/commands/forget.ts';
import { createPage } from '../../src/commands/ingest-page.ts';
import { FatalError, LeaseEndedError } from '../../src/domain/errors.ts';
import { LibraryCopy } from '../../src/store/library-copy.ts';
import { type Command, Store } from '../../src/store/store.ts';
import { until } from '../process/service.ts';
import { temporaryFolder } from '../scope.ts';
import { CutLine } from './cut-line.ts';
import { type OpenedLibrary, openLibrary, quiet } from './opened-library.ts';
import { givenPage, policy, visits } from './pages.ts';
import { Postgres, withoutPostgres } from './postgres.ts';

const skip = withoutPostgres;
let server: Postgres;
let database: Database;
let home: string;

before(async () => {
  if (skip !== false) return;
  server = await Postgres.start();
  database = await openDatabase({ url: server.url, timeoutMs: 60_000, log: quiet });
  await migrateSchema(database);
});
after(async () => {
  if (skip !== false) return;
  await database.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(async (context) => {
  if ('after' in context) home = temporaryFolder(context);
  if (skip !== false) return;
  await database.query({ text: 'truncate readback.library, readback.entry cascade' });
  await database.query({ text: `insert into readback.library (name) values ('anna')` });
});

async function open(host: string, options: { leaseS?: number; now?: () => number } = {}): Promise<OpenedLibrary> {
  const opened = await openLibrary({ database, host, dir: join(home, host), ...options });
  assert.ok(opened !== null, `${host} gets the library`);
  return opened;
}

const put = (store: Store, name: string, body?: string) =>
  store.commit((transaction) => createPage(transaction, givenPage(name, body), visits, policy));
const titlesOf = (store: Store) => [...store.reader.pages.all()].map(({ title }) => title);
const release = async ({ store, rows, claim }: OpenedLibrary) => {
  await store.close();
  await rows.release(claim);
};

/** Every row of the file in a host's folder, and every one in PostgreSQL: as text, in one order. */
async function bothSides(host: string): Promise<[string[], string[]]> {
  const copy = LibraryCopy.open(join(home, host, 'anna'), () => 'never');
  const line = (row: { database: string; key: Buffer; value: Buffer | null }) =>
    `${row.database} ${row.key.toString('hex')} ${row.value?.toString('hex')}`;
  const here = [...copy.rows(1e9)].flat().map(line).sort();
  await copy.close();
  const rows = await database.query<{ database: string; key: Buffer; value: Buffer }>({
    text: 'select database, key, value from readback.entry where value is not null',
  });
  return [here, rows.map(line).sort()];
}

async function assertSame(host: string) {
  const [here, there] = await bothSides(host);
  assert.deepEqual(here, there);
}

test('tables are made once, and a host refuses tables of another version', { skip }, async () => {
  assert.equal(await migrateSchema(database), schemaVersion);
  await requireSchema(database);
  await database.query({ text: 'update readback.schema_version set version = version + 1' });
  await assert.rejects(requireSchema(database), /too old/);
  await assert.rejects(migrateSchema(database), /too old/);
  await database.query({ text: 'update readback.schema_version set version = version - 1' });
});

test('long values are compressed by LZ4 where the server can, in every partition', { skip }, async () => {
  const [{ methods }] = await database.query<{ methods: string }>({
    text: `select string_agg(distinct attcompression::text, ',') as methods from pg_attribute
           where attname = 'value' and attrelid in (select inhrelid from pg_inherits where inhparent = 'readback.entry'::regclass)`,
  });
  const [{ able }] = await database.query<{ able: boolean }>({
    text: `select 'lz4' = any(enumvals) as able from pg_settings where name = 'default_toast_compression'`,
  });
  assert.equal(methods, able ? 'l' : '');
});

test('every row of the file is in PostgreSQL, byte by byte, deletions and long values too', { skip }, async () => {
  const anna = await open('one');
  const long = 'läng '.repeat(3_200_000);
  await put(anna.store, 'short');
  const no = await put(anna.store, 'gone');
  await put(anna.store, 'long', long);
  await anna.store.commit((transaction) => {
    const page = transaction.pages.get(no);
    assert.ok(page !== undefined);
    erasePage(transaction, page, 2);
  });
  await release(anna);
  await assertSame('one');
  const other = await open('two');
  assert.deepEqual(titlesOf(other.store), ['short', 'long']);
  assert.equal(other.store.reader.pages.body(3), long);
  assert.equal(other.store.storeId, anna.store.storeId);
  await release(other);
  await assertSame('two');
});

test('a command that throws leaves nothing, here or there', { skip }, async () => {
  const anna = await open('one');
  const thrown: Command<never> = (transaction) => {
    createPage(transaction, givenPage('thrown'), visits, policy);
    throw new RangeError('no');
  };
  const [good, bad] = await Promise.allSettled([put(anna.store, 'kept'), anna.store.commit(thrown)]);
  assert.equal(good.status, 'fulfilled');
  assert.equal(bad.status, 'rejected');
  await release(anna);
  await assertSame('one');
});

test('a copy that is behind takes the rows that changed, one of the same commit none', { skip }, async () => {
  const first = await open('one');
  const no = await put(first.store, 'first');
  await release(first);
  const second = await open('two');
  await put(second.store, 'second');
  await second.store.commit((transaction) => {
    const page = transaction.pages.get(no);
    assert.ok(page !== undefined);
    erasePage(transaction, page, 2);
  });
  await release(second);
  const third = await open('one');
  assert.deepEqual(third.said, []);
  assert.deepEqual(titlesOf(third.store), ['second']);
  await release(third);
  await assertSame('one');
  const again = await open('one');
  assert.deepEqual(again.said, []);
  await release(again);
});

test('one of two hosts that claim at once gets the library', { skip }, async () => {
  const both = await Promise.all(
    ['one', 'two', 'three'].map((host) => openLibrary({ database, host, dir: join(home, host) })),
  );
  const [only, ...others] = both.filter((each) => each !== null);
  assert.equal(others.length, 0);
  assert.ok(only !== undefined);
  await release(only);
});

test('a host whose lease has ended stops, and what it commits late is refused and seen by nobody', {
  skip,
}, async () => {
  const stale = await open('one');
  await put(stale.store, 'acknowledged');
  // As if the host had not run for longer than its lease: PostgreSQL says that it is over, the host does not know yet.
  await database.query({ text: `update readback.library set lease_until = clock_timestamp() - interval '1 s'` });
  const next = await open('two');
  await put(next.store, 'of the next');
  await assert.rejects(put(stale.store, 'late'), FatalError);
  await assert.rejects(put(stale.store, 'later'), FatalError);
  await stale.store.close();
  assert.deepEqual(await stale.rows.renew([stale.claim]), new Map());
  await release(stale).catch(() => {});
  await put(next.store, 'goes on');
  await release(next);
  await assertSame('two');
  const back = await open('one');
  assert.deepEqual(titlesOf(back.store), ['acknowledged', 'of the next', 'goes on']);
  assert.equal(back.said.length, 2, 'its unacknowledged end was thrown away with its file');
  await release(back);
  await assertSame('one');
});

test('leases are renewed beside a commit that takes long, which renews its own', { skip }, async () => {
  await database.query({ text: `insert into readback.library (name) values ('ben')` });
  const anna = await open('one');
  const ben = await openLibrary({ database, host: 'one', dir: join(home, 'one'), name: 'ben' });
  assert.ok(ben !== null);
  const claims = [anna.claim, ben.claim];
  await database.inTransaction(async (query) => {
    await query({ text: `select from readback.library where name = 'anna' for update` });
    assert.deepEqual(
      await ben.rows.renew(claims),
      new Map([
        [anna.claim.library, false],
        [ben.claim.library, true],
      ]),
    );
  });
  assert.deepEqual([...(await ben.rows.renew(claims)).values()], [true, true]);
  await release(anna);
  assert.deepEqual(await ben.rows.renew(claims), new Map([[ben.claim.library, true]]));
  await release(ben);
});

test('a lease ends by the host’s own clock, before PostgreSQL gives it to another', { skip }, async () => {
  let now = 0;
  const anna = await open('one', { leaseS: 600, now: () => now });
  await put(anna.store, 'in time');
  now = 540_000;
  assert.equal(anna.lease.isHeld, false);
  await assert.rejects(put(anna.store, 'too late'), FatalError);
  assert.equal(await openLibrary({ database, host: 'two', dir: join(home, 'two') }), null);
  await release(anna);
  const next = await open('two');
  assert.deepEqual(titlesOf(next.store), ['in time']);
  await release(next);
});

test('PostgreSQL is killed and started again under commits: each is there once', { skip }, async () => {
  const anna = await open('one');
  const acknowledged: string[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let at = 0; !isOver; at++) {
      await Promise.all(
        [1, 2, 3].map(async (part) => {
          await put(anna.store, `page ${at} ${part}`);
          acknowledged.push(`page ${at} ${part}`);
        }),
      );
    }
  })();
  for (let kills = 0; kills < 3; kills++) {
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 5, 'commits are acknowledged');
    server.kill();
    await server.restart();
  }
  const before = acknowledged.length;
  await until(() => acknowledged.length > before, 'commits are acknowledged again');
  isOver = true;
  await writing;
  await release(anna);
  await assertSame('one');
  const next = await open('two');
  assert.deepEqual(titlesOf(next.store).toSorted(), acknowledged.toSorted());
  await release(next);
});

test('a file of another history of the same numbers is not taken for the library’s', { skip }, async () => {
  const lost = await open('one');
  await put(lost.store, 'before');
  await release(lost);
  // Set back to before the takeover, as by a restore to a point in time, and gone on with elsewhere.
  await database.query({ text: 'truncate readback.library, readback.entry cascade' });
  const restored = 'insert into readback.library (id, name) overriding system value values ($1, $2)';
  await database.query({ text: restored, values: [lost.claim.library, 'anna'] });
  const next = await open('two');
  await put(next.store, 'after');
  await release(next);
  const back = await open('one');
  assert.deepEqual(titlesOf(back.store), ['after']);
  await release(back);
});

test('the history of a library has what PostgreSQL acknowledged, and nothing that another one did', {
  skip,
}, async () => {
  const anna = await open('one');
  await put(anna.store, 'known');
  const { acknowledged } = anna.commits;
  const lineOf = (commit: Commit) => anna.rows.historyOf(commit, () => commit).last();
  await release(anna);
  const next = await open('two');
  const { has } = next.rows.historyOf(next.claim, () => acknowledged);
  assert.equal(await has(lineOf(acknowledged)), true);
  assert.equal(await has(lineOf({ ...acknowledged, seq: acknowledged.seq - 1 })), true);
  for (const line of [
    lineOf({ ...acknowledged, seq: acknowledged.seq + 1 }),
    lineOf({ ...acknowledged, run: 'another' }),
    lineOf({ ...acknowledged, epoch: acknowledged.epoch + 100 }),
    lineOf({ ...acknowledged, library: '123456' }),
    ...['', 'no commit', `${lineOf(acknowledged)}0000000000000000`],
  ])
    assert.equal(await has(line), false, line);
  await release(next);
});

test('a copy from more claims ago than are kept is read anew', { skip }, async () => {
  const first = await open('one');
  await put(first.store, 'known');
  await release(first);
  await database.query({ text: 'update readback.library set epoch = 10000' });
  await database.query({
    text: `insert into readback.takeover (library_id, epoch, run, seq)
           select id, claim, 'run ' || claim, seq from readback.library, generate_series(2, 10000) claim`,
  });
  const second = await open('two');
  const [kept] = await database.query<{ first: number; last: number; count: number }>({
    text: 'select min(epoch) as first, max(epoch) as last, count(*) from readback.takeover',
  });
  assert.deepEqual({ ...kept }, { first: 2, last: 10_001, count: 10_000 });
  await release(second);
  const third = await open('one');
  assert.equal(third.said.at(-1), 'the library is read from PostgreSQL');
  assert.deepEqual(titlesOf(third.store), ['known']);
  await release(third);
});

test('a file that was written on its own meanwhile is no copy any more', { skip }, async () => {
  const anna = await open('one');
  await put(anna.store, 'known');
  await release(anna);
  const alone = await Store.open(join(home, 'one', 'anna'), () => 'never');
  await put(alone, 'by itself');
  await alone.close();
  const again = await open('one');
  assert.deepEqual(titlesOf(again.store), ['known']);
  await release(again);
  await assertSame('one');
});

test('connections are cut under commits: each is there once', { skip }, async () => {
  await using line = await CutLine.to(server.url);
  const behind = await openDatabase({ url: line.url, timeoutMs: 60_000, log: quiet });
  const anna = await openLibrary({ database: behind, host: 'one', dir: join(home, 'one') });
  assert.ok(anna !== null);
  const acknowledged: string[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let at = 0; !isOver; at++) {
      await put(anna.store, `page ${at}`);
      acknowledged.push(`page ${at}`);
    }
  })();
  for (let cuts = 0; cuts < 20; cuts++) {
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 1, 'commits are acknowledged');
    line.cut();
  }
  isOver = true;
  await writing;
  await release(anna);
  await behind.close();
  await assertSame('one');
  const next = await open('two');
  assert.deepEqual(titlesOf(next.store), acknowledged);
  await release(next);
});

test('a commit that PostgreSQL says nothing of is given up when the lease ends, and is no more than once there', {
  skip,
}, async () => {
  await using line = await CutLine.to(server.url);
  const behind = await openDatabase({ url: line.url, timeoutMs: 600_000, log: quiet });
  let time = 0;
  const [dir, now] = [join(home, 'one'), () => time];
  const anna = await openLibrary({ database: behind, host: 'one', dir, leaseS: 600, now });
  assert.ok(anna !== null);
  await put(anna.store, 'before');
  line.isSilent = true;
  const silent = put(anna.store, 'in the silence');
  const refused = assert.rejects(silent, FatalError);
  time = 600_000;
  anna.lease.end(new LeaseEndedError('the lease ended before it could be renewed')); // its own timer has yet to go off
  await refused; // long before the query's time limit
  line.isSilent = false;
  await anna.store.close();
  await database.query({ text: 'update readback.library set lease_until = clock_timestamp()' });
  const next = await open('two');
  assert.ok(['before', 'before,in the silence'].includes(titlesOf(next.store).join()));
  await release(next);
  line.cut();
  await behind.close();
});

test('rows that are read at once have few bytes, however large they are', { skip }, async () => {
  const anna = await open('one');
  const body = 'large '.repeat(500_000);
  for (let at = 0; at < 8; at++) await put(anna.store, `page ${at}`, `${at} ${body}`);
  await release(anna);
  const answers: number[] = [];
  const measured: Database = {
    ...database,
    query: async <Row>(query: Query) => {
      const rows = await database.query<Row & { value?: Buffer | null }>(query);
      answers.push(rows.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
      return rows;
    },
  };
  const second = await openLibrary({ database: measured, host: 'two', dir: join(home, 'two') });
  assert.ok(second !== null);
  assert.equal(titlesOf(second.store).length, 8);
  await release(second);
  await assertSame('two');
  const all = answers.reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(Math.max(...answers) <= all / 2, `${answers} of ${all}`);
});

test('a copy that is behind what is known of deletions is read anew', { skip }, async () => {
  const first = await open('one');
  const no = await put(first.store, 'gone');
  await release(first);
  const second = await open('two');
  await second.store.commit((transaction) => {
    const page = transaction.pages.get(no);
    assert.ok(page !== undefined);
    erasePage(transaction, page, 2);
  });
  const deleted = () =>
    database.query<{ count: number }>({ text: 'select count(*) as count from readback.entry where value is null' });
  assert.notEqual((await deleted())[0].count, 0);
  await second.rows.prune(second.claim, 1_000_000);
  assert.equal((await deleted())[0].count, 0);
  await release(second);
  const third = await open('one');
  assert.deepEqual(third.said, ['the library is read from PostgreSQL']);
  assert.deepEqual(titlesOf(third.store), []);
  await release(third);
  await assertSame('one');
});

test('rows that are not what the checksum is of are told, and not served', { skip }, async () => {
  const anna = await open('one');
  await put(anna.store, 'a page');
  await release(anna);
  await database.query({ text: `delete from readback.entry where database = 'page_by_url'` });
  await assert.rejects(open('two'), /checksum/);
});

test('a library of a newer format, or a suspended one, is not claimed', { skip }, async () => {
  await database.query({ text: 'update readback.library set format = 99' });
  assert.equal(await openLibrary({ database, host: 'one', dir: join(home, 'one') }), null);
  await database.query({ text: `update readback.library set format = 3, state = 'suspended'` });
  assert.equal(await openLibrary({ database, host: 'one', dir: join(home, 'one') }), null);
});

test('what an import that was cut off has left is served by nobody, and is gone with the next one', {
  skip,
}, async () => {
  await newLibrary(database, 'half', 'importing');
  await database.query({
    text: `insert into readback.entry (library_id, database, key, value, seq)
           select id, 'page', '\\x00', '\\x00', 1 from readback.library where name = 'half'`,
  });
  await database.query({ text: `update readback.library set due_at = clock_timestamp() where name = 'half'` });
  const rows = new LibraryRows(database, { host: { id: 'one', address: 'http://one' }, leaseS: 600, format: 99 });
  assert.equal(await rows.claim('half'), null);
  assert.ok(!(await rows.due(10)).names.includes('half'));
  for (const refuse of [() => setState(database, 'half', 'active'), () => releaseLibrary(database, 'half')])
    await assert.rejects(refuse, /has not ended/);
  // One that goes on is not taken away.
  assert.ok((await rows.claim('half', 'importing')) !== null);
  await assert.rejects(newLibrary(database, 'half', 'importing'), /already/);
  await database.query({ text: `update readback.library set lease_until = clock_timestamp() where name = 'half'` });
  await newLibrary(database, 'half', 'importing');
  const [{ left }] = await database.query<{ left: number }>({
    text: `select count(*) as left from readback.entry where database = 'page' and key = '\\x00'`,
  });
  assert.equal(left, 0);
  const claim = await rows.claim('half', 'importing');
  assert.ok(claim !== null);
  const earlier = { library: claim.library, epoch: claim.epoch - 1 };
  await assert.rejects(endImport(database, earlier), /meanwhile/);
  await discardImport(database, earlier);
  await endImport(database, claim);
  await discardImport(database, claim);
  assert.ok((await rows.claim('half')) !== null, 'it is there, and is no import any more');
});

test('tokens of a library that another host has taken keep none of the others from being written', {
  skip,
}, async () => {
  const rows = new LibraryRows(database, { host: { id: 'one', address: 'http://one' }, leaseS: 600, format: 99 });
  const credentials = new Credentials(database);
  for (const name of ['taken', 'kept']) {
    await newLibrary(database, name);
    const claim = await rows.claim(name);
    assert.ok(claim !== null);
    await credentials.serve(name, claim);
  }
  await database.query({ text: `update readback.library set epoch = epoch + 1 where name = 'taken'` });
  const tokens = ['taken', 'kept'].map((library, no) => ({
    ...{ id: `tk_${no}`, library, name: 'phone', digest: String(no).repeat(64), scopes: ['read' as const] },
    ...{ source: 'created' as const, origin: null, created_at: 0, last_used_at: null },
  }));
  const records = { format: 1 as const, tokens, sessions: [] };
  await credentials.save(records, 'kept');
  await assert.rejects(credentials.save(records, 'taken'), { code: 'store_unavailable' });
  await assert.rejects(credentials.save(records, 'never served here'), { code: 'store_unavailable' });
  const found = tokens.map(({ digest }) => credentials.libraryOf(digest));
  assert.deepEqual(await Promise.all(found), [null, 'kept']);
});
