/** Imports lines of an export. Idempotent: known values stay, lists are united, and the higher visit count wins. */
import { longerPeriod, type VisitTimes, visitTimes, withVisit } from '../compute/structures/visit-times.ts';
import type { CanonicalizeSettings } from '../compute/web/canonical-url.ts';
import type { ExportLine, PageLine } from '../domain/export.ts';
import { withMore } from '../domain/metadata.ts';
import type { Page } from '../domain/page.ts';
import { instantOf } from '../domain/values.ts';
import type { Command, Transaction } from '../store/store.ts';
import { createWatch } from './change-watches.ts';
import { putFacts } from './edit-pages.ts';
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
  /** Computes canonical URLs again, as those of earlier versions and other settings differ. */
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
      // The next start forgets matching pages before it answers requests.
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

function takePage(transaction: Transaction, line: PageLine, policy: JobPolicy): keyof TakenCounts {
  const { canonical_url, body_text, sections } = line;
  if (transaction.blacklist.match(line) !== undefined) return 'blacklisted';
  const times = [line.first_seen_at, line.last_seen_at, ...(line.visits ?? [])].map(instantOf);
  const knownNo = transaction.pages.numberByUrl(canonical_url);
  const known = knownNo === undefined ? undefined : transaction.pages.get(knownNo);
  if (known !== undefined) {
    const told = { ...known, metadata: withMore(known.metadata, line.metadata) };
    putFacts(transaction, visitedAt(told, times, line), known, policy.at);
    return 'known_pages';
  }
  const stored = sections.map(({ char_start, title, start_s }) => ({
    char_start,
    title,
    ...(start_s === undefined ? {} : { start_s }),
  }));
  const first = { first_seen_at: times[0], last_seen_at: times[0], visit_count: 1 };
  const visits = visitedAt(first, times, line);
  createPage(transaction, { ...line, body: body_text, sections: stored }, visits, policy);
  return 'new_pages';
}

function visitedAt<Visited extends VisitTimes & Pick<Page, 'visit_count'>>(
  page: Visited,
  times: readonly number[],
  line: Pick<PageLine, 'visit_count' | 'visit_period_ms'>,
): Visited {
  // In this order each visit is the last so far, which is fast.
  const visited = times.toSorted((a, b) => a - b).reduce<Visited>(withVisit, page);
  const visit_count = Math.max(page.visit_count, line.visit_count, visitTimes(visited).length);
  return { ...visited, ...longerPeriod(visited, line), visit_count };
}
