/** Wall clock. Database `clock`: `trusted` → last right time, ms; `doubted` → service time since a doubt, ms. */
import { Records } from './records.ts';

export interface ClockRecord {
  trusted: number;
  /** 0 while the clock is trusted. */
  doubted: number;
}

export class ClockReader extends Records {
  protected readonly rows = this.table<number, keyof ClockRecord>('clock');

  /** Undefined in a store of an older version. */
  get(): ClockRecord | undefined {
    const trusted = this.rows.get('trusted');
    return trusted === undefined ? undefined : { trusted, doubted: this.rows.get('doubted') ?? 0 };
  }
}

export class ClockTransactor extends ClockReader {
  put({ trusted, doubted }: ClockRecord): void {
    this.rows.put('trusted', trusted);
    this.rows.put('doubted', doubted);
  }
}
