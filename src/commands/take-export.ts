/** Imports lines of an export. Idempotent: known values stay, and of two visit counts the higher wins. */
import type { CanonicalizeSettings } from '../compute/web/canonical-url.ts';
import type { ExportLine } from '../domain/export.ts';
import { instantOf } from '../domain/ids.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createWatch } from './change-watches.ts';
import { createPage } from './ingest-page.ts';
import type { JobPolicy } from './move-job.ts';
import { currentAddress } from './readdress-pages.ts';

export type TakenCounts = Record<
  'new_pages' | 'known_pages' | 'blacklisted' | 'rules' | 'watches' | 'left_out',
  number
>;

export const noneTaken = (): TakenCounts => ({
  new_pages: 0,
  known_pages: 0,
  blacklisted: 0,
  rules: 0,
  watches: 0,
  left_out: 0,
});

export interface TakeOptions extends JobPolicy {
  /** Exports of earlier versions and other settings have other canonical URLs. */
  canonicalize: CanonicalizeSettings;
}

export function takeExport(lines: readonly ExportLine[], options: TakeOptions): Command<TakenCounts> {
  return (transaction) => {
    const counts = noneTaken();
    for (const line of lines) {
      const kind = takeLine(transaction, line, options);
      if (kind !== null) counts[kind]++;
    }
    return counts;
  };
}

function takeLine(transaction: Transaction, line: ExportLine, options: TakeOptions): keyof TakenCounts | null {
  switch (line.kind) {
    case 'rule': {
      if (transaction.blacklist.find(line.rule_kind, line.pattern) !== undefined) return null;
      // The next start forgets matching pages before it serves.
      transaction.blacklist.begin({
        no: transaction.counters.take('blacklist'),
        pattern: line.pattern,
        kind: line.rule_kind,
        reason: line.reason,
        ...(line.canonicalized_by === undefined ? {} : { canonicalized_by: line.canonicalized_by }),
        created_at: instantOf(line.created_at),
      });
      return 'rules';
    }
    case 'watch': {
      if (transaction.watches.find(line.identity) !== undefined) return null;
      const { url, watch_kind, identity, title, enabled, interval_hours, config } = line;
      createWatch({ url, kind: watch_kind, identity, title, enabled, interval_hours, config, at: options.at })(
        transaction,
      );
      return 'watches';
    }
    case 'page':
      return takePage(transaction, { ...line, ...currentAddress(line, options.canonicalize) }, options);
    case 'feedback':
      return 'left_out';
    default:
      return null;
  }
}

function takePage(
  transaction: Transaction,
  line: Extract<ExportLine, { kind: 'page' }>,
  policy: JobPolicy,
): keyof TakenCounts {
  const { canonical_url, body_text, sections, visit_count } = line;
  if (transaction.blacklist.match(line) !== undefined) return 'blacklisted';
  const [first_seen_at, last_seen_at] = [instantOf(line.first_seen_at), instantOf(line.last_seen_at)];
  const knownNo = transaction.pages.numberByUrl(canonical_url);
  const known = knownNo === undefined ? undefined : transaction.pages.get(knownNo);
  if (known !== undefined) {
    const merged = {
      ...known,
      visit_count: Math.max(known.visit_count, visit_count),
      first_seen_at: Math.min(known.first_seen_at, first_seen_at),
      last_seen_at: Math.max(known.last_seen_at, last_seen_at),
    };
    transaction.pages.put(merged, known);
    return 'known_pages';
  }
  const stored = sections.map(({ char_start, title, start_s }) => ({
    char_start,
    title,
    ...(start_s === undefined ? {} : { start_s }),
  }));
  createPage(
    transaction,
    { ...line, body: body_text, sections: stored },
    { first_seen_at, last_seen_at, visit_count },
    policy,
  );
  return 'new_pages';
}
