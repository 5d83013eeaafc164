/**
 * Blacklist rules. Databases: `blacklist` no → rule; `blacklist_by_pattern` [kind, 22 characters of a hash of the pattern] → no;
 * `blacklist_settings` the same of a hash of settings → the settings that rules were ever made by. None of these is taken away: they say nothing of
 * what was forgotten, and few people change them more than once or twice.
 */
import { type CanonicalUrl, canonicalizeUrl } from '../compute/web/canonical-url.ts';
import { domainSuffixes } from '../compute/web/domain-match.ts';
import type { RuleKind, RuleSettings } from '../domain/blacklist.ts';
import type { Environment, Table } from './environment.ts';
import { hashKey } from './keys.ts';

export interface BlacklistRule {
  no: number;
  pattern: string;
  kind: RuleKind;
  reason: string | null;
  created_at: number;
  /** Its pages are not all gone yet: a start goes on with them. A mark, no state: the rule holds either way. */
  purging: boolean;
  /** Of a URL: the settings by which its pattern is its canonical form. Absent: made before rules kept them, or by another store. */
  canonicalized_by?: RuleSettings[] | undefined;
}

/** An address that comes in: as it was given, and what the present settings make of it. */
export type Address = CanonicalUrl & { original_url: string };

export class BlacklistReader {
  protected readonly rows: Table<BlacklistRule, number>;
  protected readonly byPattern: Table<number, [RuleKind, string]>;
  protected readonly settings: Table<RuleSettings, string>;

  constructor(environment: Environment) {
    this.rows = environment.openDatabase('blacklist', { keyEncoding: 'uint32' });
    this.byPattern = environment.openDatabase('blacklist_by_pattern', {});
    this.settings = environment.openDatabase('blacklist_settings', {});
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

  /** Rules for URLs that do not say what made their patterns. */
  withoutSettings(): BlacklistRule[] {
    return this.list().filter(({ kind, canonicalized_by }) => kind === 'url' && canonicalized_by === undefined);
  }

  /** Rules whose pages are not all gone yet, oldest first. */
  purging(): BlacklistRule[] {
    return [...this.rows.getRange()].map(({ value }) => value).filter(({ purging }) => purging);
  }

  find(kind: RuleKind, pattern: string): BlacklistRule | undefined {
    const no = this.byPattern.get([kind, hashKey(pattern)]);
    return no === undefined ? undefined : this.rows.get(no);
  }

  /**
   * The rule that forbids this address, if any. Settings may have changed since it was forgotten: it is compared in the form, too, that those of
   * the rule make of it.
   */
  match(address: Address): BlacklistRule | undefined {
    if (this.isEmpty()) return undefined;
    return this.matchExactly(address) ?? this.#matchEarlierForm(address);
  }

  /** The rule that forbids a page of this canonical URL: that exactly, or a label suffix of its domain. */
  protected matchExactly({ canonical_url, domain }: CanonicalUrl): BlacklistRule | undefined {
    const byUrl = this.find('url', canonical_url);
    if (byUrl !== undefined) return byUrl;
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

  /** Put a rule, new or known, whose pages are now to be erased. */
  begin(rule: Omit<BlacklistRule, 'purging'>): BlacklistRule {
    const begun = { ...rule, purging: true };
    this.put(begun);
    return begun;
  }

  /** The rule's pages are all gone; nothing for an unknown rule. */
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
    this.#knownEmpty = false; // the transaction may yet be rolled back
    this.rows.remove(no);
    this.byPattern.remove([kind, hashKey(pattern)]);
  }

  /** Make what is asked for an address anew from the rules: repair only. Of two rules of one pattern the newer is found. */
  rebuildIndexes(): void {
    for (const key of [...this.byPattern.getKeys()]) this.byPattern.remove(key);
    for (const rule of this.list().reverse()) this.put(rule);
  }
}

export function settingsKey({ tracking_params, keep_params }: RuleSettings): string {
  return hashKey(JSON.stringify([tracking_params, keep_params]));
}
