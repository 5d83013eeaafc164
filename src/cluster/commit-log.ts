/**
 * Sends the commits of one library to PostgreSQL in order; commits that arrive during a statement share the next one. A
 * statement writes rows only if epoch and `seq` are as expected. After a broken connection: an unchanged `seq` means
 * send again, a higher one success; another epoch ends the log. Retries end with the lease.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FatalError, LeaseEndedError } from '../domain/errors.ts';
import type { CommitLog, Position, RowBlock } from '../store/stored-rows.ts';
import { type Commit, type Database, mayPass } from './database.ts';
import type { Lease } from './lease.ts';

/** Max bytes of rows in one statement. A larger commit goes alone. */
const maxStatementBytes = 8 * 1024 * 1024;
/** Max bytes of waiting rows. Above it, the next commit waits. */
const maxWaitingBytes = 32 * 1024 * 1024;
const tryEveryMs = 100;

interface Waiting {
  rows: RowBlock;
  bytes: number;
  position: Position;
  resolve(): void;
  reject(error: unknown): void;
}

export interface CommitLogOptions {
  database: Database;
  lease: Lease;
  leaseS: number;
  position: Position;
  log: { warn(fields: object, message: string): void };
}

export class DatabaseLog implements CommitLog {
  position: Position;
  readonly #options: CommitLogOptions;
  #seq: number;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isSending = false;
  #whenRoom: (() => void)[] = [];
  #failure: FatalError | null = null;

  constructor(options: CommitLogOptions) {
    this.#options = options;
    this.position = options.position;
    this.#seq = options.position.seq;
    void options.lease.lost.then((error) => this.#fail(error));
  }

  get acknowledged(): Commit {
    return { ...this.position, seq: this.#seq };
  }

  async ready(): Promise<void> {
    while (this.#failure === null && this.#waitingBytes >= maxWaitingBytes)
      await new Promise<void>((resolve) => this.#whenRoom.push(resolve));
    if (this.#failure !== null) throw this.#failure;
  }

  append(rows: RowBlock, position: Position): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const bytes = rows.size + rows.length * 64;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, bytes, position, resolve, reject });
      this.#waitingBytes += bytes;
      if (!this.#isSending) void this.#send();
    });
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0 && this.#failure === null) {
      const batch = this.#takeBatch();
      try {
        await this.#commit(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        const failure = this.#fail(error);
        for (const { reject } of batch) reject(failure);
      }
      this.#waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const go of this.#whenRoom.splice(0)) go();
    }
    this.#isSending = false;
  }

  #takeBatch(): Waiting[] {
    let count = 0;
    for (let bytes = 0; count < this.#waiting.length; count++) {
      bytes += this.#waiting[count].bytes;
      if (count > 0 && bytes > maxStatementBytes) break;
    }
    return this.#waiting.splice(0, count);
  }

  /** Errors: FatalError if the commit is impossible; the database's permanent ones. */
  async #commit(batch: readonly Waiting[]): Promise<void> {
    const { lease, log, database } = this.#options;
    const { position } = batch[batch.length - 1];
    const values = this.#valuesOf(batch, position);
    for (let tries = 0; ; tries++) {
      if (!lease.isHeld) throw lost();
      try {
        if (tries > 0 && (await this.#isThere(position))) break;
        const sentAt = lease.now();
        const signal = lease.ended; // PostgreSQL may be silent for long
        const [{ count }] = await database.query<{ count: number }>({
          name: 'commit',
          text: commitText,
          values,
          signal,
        });
        if (count === 1) lease.extend(sentAt);
        else if (!(await this.#isThere(position))) throw lost();
        break;
      } catch (err) {
        if (err instanceof FatalError || !mayPass(err)) throw err;
        if (tries === 0) log.warn({ err }, 'a commit did not reach PostgreSQL: trying again');
        await delay(tryEveryMs);
      }
    }
    this.#seq = position.seq;
  }

  /** Whether the last try was stored. Errors: FatalError if another host has the library; the database's. */
  async #isThere({ library, epoch, seq }: Position): Promise<boolean> {
    const [row] = await this.#options.database.query<{ epoch: number; seq: number }>({
      text: 'select epoch, seq from readback.library where id = $1',
      values: [library],
      signal: this.#options.lease.ended,
    });
    if (row === undefined || row.epoch !== epoch) throw lost();
    if (row.seq === seq) return true;
    if (row.seq === this.#seq) return false;
    throw new FatalError(`the library is at commit ${row.seq}, not at ${this.#seq} or ${seq}`);
  }

  #valuesOf(batch: readonly Waiting[], { library, epoch, seq, keys: keyCount, key_sum }: Position): unknown[] {
    const numbers = new Map<string, number>();
    const [names, keys, keyLengths, values, valueLengths]: number[][] = [[], [], [], [], []];
    let before = 1; // offsets in a bytea start at 1
    for (const [{ rows }, isWritten] of lastWrites(batch)) {
      for (let row = 0; row < rows.length; row++) {
        if (!isWritten(row)) continue;
        const name = rows.databases[row];
        if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
        names.push(numbers.get(name) ?? 0);
        keys.push(before + rows.keyStarts[row]);
        keyLengths.push(rows.keyEnds[row] - rows.keyStarts[row]);
        values.push(before + rows.valueStarts[row]);
        valueLengths.push(rows.valueEnds[row] < 0 ? -1 : rows.valueEnds[row] - rows.valueStarts[row]);
      }
      before += rows.size;
    }
    const pieces = batch.map(({ rows }) => rows.bytes.subarray(0, rows.size));
    return [
      ...[library, epoch, this.#seq, seq, keyCount, key_sum, this.#options.leaseS],
      arrayText([...numbers.keys()]),
      pieces.length === 1 ? pieces[0] : Buffer.concat(pieces),
      ...[names, keys, keyLengths, values, valueLengths].map(arrayText),
    ];
  }

  #fail(error: unknown): FatalError {
    this.#failure ??=
      error instanceof FatalError ? error : new FatalError('a commit did not reach PostgreSQL', { cause: error });
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    for (const go of this.#whenRoom.splice(0)) go();
    return this.#failure;
  }
}

/** Each commit with the rows that no later commit overwrites: a statement may write a row only once. */
function lastWrites(batch: readonly Waiting[]): [Waiting, (row: number) => boolean][] {
  if (batch.length === 1) return [[batch[0], () => true]];
  const ids = batch.map(({ rows }) =>
    rows.databases.map((name, row) => `${name}\0${rows.key(row).toString('latin1')}`),
  );
  const last = new Map(ids.flatMap((each, at) => each.map((id) => [id, at] as const)));
  return batch.map((commit, at) => [commit, (row) => last.get(ids[at][row]) === at]);
}

const lost = () => new LeaseEndedError('another host now serves the library, or the lease has ended');

const commitText = `
  with fence as (
    update readback.library
    set seq = $4, keys = $5, key_sum = $6, lease_until = clock_timestamp() + make_interval(secs => $7)
    where id = $1 and epoch = $2 and seq = $3
    returning id
  ), written as (
    insert into readback.entry (library_id, database, key, value, seq)
    select $1, ($8::text[])[name], substring($9::bytea from key for key_length),
      case when value_length >= 0 then substring($9::bytea from value for value_length) end, $4
    from (
      select unnest($10::int[]) as name, unnest($11::int[]) as key, unnest($12::int[]) as key_length,
        unnest($13::int[]) as value, unnest($14::int[]) as value_length
    ) as rows
    where exists (select from fence)
    on conflict (library_id, database, key) do update set value = excluded.value, seq = excluded.seq
  )
  select count(*) as count from fence`;

/** Array syntax of PostgreSQL, for numbers and for names without punctuation. */
const arrayText = (values: readonly (number | string)[]): string => `{${values.join()}}`;
