/** Blacklist rules. Databases: `blacklist` no → rule; `blacklist_by_pattern` [kind, 22 characters of a hash of the pattern] → no. */
import type { Database } from 'lmdb';
import { domainSuffixes } from '../compute/web/domain-match.ts';
import type { RuleKind } from '../domain/blacklist.ts';
import type { Environment } from './environment.ts';
import { hashKey } from './keys.ts';

export interface BlacklistRule {
  no: number;
  pattern: string;
  kind: RuleKind;
  reason: string | null;
  created_at: number;
  /** Its pages are not all gone yet: a start goes on with them. */
  purging: boolean;
}

export class BlacklistReader {
  protected readonly rows: Database<BlacklistRule, number>;
  protected readonly byPattern: Database<number, [RuleKind, string]>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('blacklist', { keyEncoding: 'uint32' });
    this.byPattern = environment.openDatabase('blacklist_by_pattern', {});
  }

  get(no: number): BlacklistRule | undefined {
    return this.rows.get(no);
  }

  protected isEmpty(): boolean {
    return this.rows.getKeysCount({ limit: 1 }) === 0;
  }

  /** Newest first, from the one before `before`. */
  list(before?: number, limit?: number): BlacklistRule[] {
    const start = before === undefined ? {} : { start: before - 1 };
    return [...this.rows.getRange({ ...start, ...(limit === undefined ? {} : { limit }), reverse: true })].map(
      ({ value }) => value,
    );
  }

  /** Rules whose pages are not all gone yet, oldest first. */
  purging(): BlacklistRule[] {
    return [...this.rows.getRange()].map(({ value }) => value).filter(({ purging }) => purging);
  }

  find(kind: RuleKind, pattern: string): BlacklistRule | undefined {
    const no = this.byPattern.get([kind, hashKey(pattern)]);
    return no === undefined ? undefined : this.rows.get(no);
  }

  /** The rule that forbids this page, if any: its URL exactly, or a label suffix of its domain. */
  match(canonicalUrl: string, domain: string): BlacklistRule | undefined {
    if (this.isEmpty()) return undefined;
    const byUrl = this.find('url', canonicalUrl);
    if (byUrl !== undefined) return byUrl;
    for (const suffix of domainSuffixes(domain)) {
      const rule = this.find('domain', suffix);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}

/** Writer only: valid inside a transaction. */
export class BlacklistTransactor extends BlacklistReader {
  /** Rules that the current transaction put, in order. */
  changed: BlacklistRule[] = [];
  /** Looked up once, as every page that comes in asks: only here rules come. Never true again after one was there. */
  #knownEmpty: boolean | undefined;

  protected override isEmpty(): boolean {
    this.#knownEmpty ??= super.isEmpty();
    return this.#knownEmpty;
  }

  put(rule: BlacklistRule): void {
    this.#knownEmpty = false;
    this.changed.push(rule);
    this.rows.put(rule.no, rule);
    this.byPattern.put([rule.kind, hashKey(rule.pattern)], rule.no);
  }

  remove({ no, kind, pattern }: BlacklistRule): void {
    this.#knownEmpty = false; // the transaction may yet be rolled back
    this.rows.remove(no);
    this.byPattern.remove([kind, hashKey(pattern)]);
  }
}
