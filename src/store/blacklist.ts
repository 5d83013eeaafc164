/**
 * Blacklist rules. Databases: `blacklist` no → rule; `blacklist_by_pattern` [kind, hash of the pattern] → no;
 * `blacklist_settings` hash of settings → settings that ever made rules (never deleted: they reveal nothing).
 */
import { type CanonicalUrl, canonicalizeUrl, hostOf } from '../compute/web/canonical-url.ts';
import { domainSuffixes } from '../compute/web/domain-match.ts';
import {
  type RuleKind,
  type RuleSettings,
  type Tombstone,
  type TombstoneState,
  tombstoneStates,
} from '../domain/blacklist.ts';
import type { CarriedRule } from './look-apart.ts';
import { hashKey, NumberedRecords, numbered } from './records.ts';

/** `canonicalized_by`: for URLs, the settings that made the pattern canonical. Missing in older and foreign rules. */
export interface BlacklistRule extends CarriedRule {
  no: number;
  /** Its pages are being erased, and the next start continues. Meanwhile the rule applies, too. */
  purging: boolean;
}

export type Address = CanonicalUrl & { original_url: string };

export class BlacklistReader extends NumberedRecords<BlacklistRule> {
  protected readonly rows = this.table<BlacklistRule, number>('blacklist', numbered);
  protected readonly byPattern = this.table<number, [RuleKind, string]>('blacklist_by_pattern');
  protected readonly settings = this.table<RuleSettings, string>('blacklist_settings');

  protected isEmpty(): boolean {
    return this.rows.getKeysCount({ limit: 1 }) === 0;
  }

  /** Newest first, below `before`. */
  list(before?: number, limit?: number): BlacklistRule[] {
    const start = before === undefined ? {} : { start: before - 1 };
    return [...this.rows.getRange({ ...start, ...(limit === undefined ? {} : { limit }), reverse: true })].map(
      ({ value }) => value,
    );
  }

  withoutSettings(): BlacklistRule[] {
    return this.list().filter(({ kind, canonicalized_by }) => kind === 'url' && canonicalized_by === undefined);
  }

  /** Oldest first. */
  purging(): BlacklistRule[] {
    return this.all().filter(({ purging }) => purging);
  }

  find(kind: RuleKind, pattern: string): BlacklistRule | undefined {
    const no = this.byPattern.get([kind, hashKey(pattern)]);
    return no === undefined ? undefined : this.rows.get(no);
  }

  /** The rule for an address: for its host as written, or its canonical form under the settings of a rule. */
  match(address: Address): BlacklistRule | undefined {
    if (this.isEmpty()) return undefined;
    return (
      this.matchExactly(address) ?? this.#matchHost(hostOf(address.original_url)) ?? this.#matchEarlierForm(address)
    );
  }

  protected matchExactly({ canonical_url, domain }: CanonicalUrl): BlacklistRule | undefined {
    const byUrl = this.find('url', canonical_url);
    return byUrl ?? this.#matchHost(domain);
  }

  #matchHost(domain: string): BlacklistRule | undefined {
    for (const suffix of domainSuffixes(domain)) {
      const rule = this.find('domain', suffix);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  #matchEarlierForm({ original_url, canonical_url }: Address): BlacklistRule | undefined {
    for (const { key, value } of this.settings.getRange()) {
      const earlier = canonicalizeUrl(original_url, value);
      if ('invalid' in earlier || earlier.canonical_url === canonical_url) continue;
      const rule = this.find('url', earlier.canonical_url);
      if (rule?.canonicalized_by?.some((settings) => settingsKey(settings) === key)) return rule;
    }
    return undefined;
  }
}

export class BlacklistTransactor extends BlacklistReader {
  changed: BlacklistRule[] = [];
  /** Cached, because every submitted page asks. Only `put` adds rules; never true again after that. */
  #knownEmpty: boolean | undefined;

  protected override isEmpty(): boolean {
    this.#knownEmpty ??= super.isEmpty();
    return this.#knownEmpty;
  }

  begin(rule: Omit<BlacklistRule, 'purging'>): BlacklistRule {
    const begun = { ...rule, purging: true };
    this.put(begun);
    return begun;
  }

  end(no: number): void {
    const rule = this.get(no);
    if (rule !== undefined) this.put({ ...rule, purging: false });
  }

  put(rule: BlacklistRule): void {
    this.#knownEmpty = false;
    this.changed.push(rule);
    this.rows.put(rule.no, rule);
    this.byPattern.put([rule.kind, hashKey(rule.pattern)], rule.no);
    for (const settings of rule.canonicalized_by ?? []) this.settings.put(settingsKey(settings), settings);
  }

  remove({ no, kind, pattern }: BlacklistRule): void {
    this.#knownEmpty = false; // the transaction may still be rolled back
    this.rows.remove(no);
    this.byPattern.remove([kind, hashKey(pattern)]);
  }
}

export function settingsKey({ tracking_params, keep_params, known_addresses }: RuleSettings): string {
  const later = known_addresses === undefined ? [] : [known_addresses];
  return hashKey(JSON.stringify([tracking_params, keep_params, ...later]));
}

/*
 * Tombstones: the remains of a forgotten page (src/machines/tombstone.ts). Databases: `tombstones` page no → row;
 * `tombstones_by_state` [state, job no, page no].
 */

const maxNumber = Number.MAX_SAFE_INTEGER;

export class TombstoneReader extends NumberedRecords<Tombstone> {
  protected readonly rows = this.table<Tombstone, number>('tombstones', numbered);
  protected readonly byState = this.table<number, [TombstoneState, number, number]>('tombstones_by_state');

  any(): boolean {
    return this.rows.getKeysCount({ limit: 1 }) > 0;
  }

  countByState(): Record<TombstoneState, number> {
    const counts = tombstoneStates.map((state) => [
      state,
      this.byState.getKeysCount({ start: [state, 0, 0], end: [state, maxNumber, maxNumber] }),
    ]);
    return Object.fromEntries(counts) as Record<TombstoneState, number>;
  }

  /** Page numbers in a state, optionally of one purge job. Ordered by job and number. */
  pageNumbers(state: TombstoneState, { job_no, limit }: { job_no?: number; limit?: number } = {}): number[] {
    const range = { start: [state, job_no ?? 0, 0], end: [state, job_no ?? maxNumber, maxNumber] } as {
      start: [TombstoneState, number, number];
      end: [TombstoneState, number, number];
    };
    return [...this.byState.getKeys(limit === undefined ? range : { ...range, limit })].map(([, , no]) => no);
  }
}

export class TombstoneTransactor extends TombstoneReader {
  changed: Tombstone[] = [];

  put(row: Tombstone): void {
    const before = this.rows.get(row.page_no);
    if (before !== undefined) this.byState.remove([before.state, before.job_no, before.page_no]);
    this.byState.put([row.state, row.job_no, row.page_no], 0);
    this.rows.put(row.page_no, row);
    this.changed.push(row);
  }
}
