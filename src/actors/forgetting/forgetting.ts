/**
 * Forgetting: adds and removes rules, erases matching pages, and later rewrites all files. One forget at a time. After a crash,
 * interrupted-forgets.ts continues with purging rules and unverified tombstones. Steps: docs/forgetting.md; states:
 * src/machines/tombstone.ts. Also merges pages whose addresses became one (readdress-all.ts), as that erases pages.
 */
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { beginForget, type ForgetTarget, removeRule } from '../../commands/forget.ts';
import { type CanonicalizeSettings, canonicalizeUrl } from '../../compute/web/canonical-url.ts';
import { normalizeDomain } from '../../compute/web/domain-match.ts';
import { isPublicSuffix } from '../../compute/web/registered-names.ts';
import type { BlacklistResponse, ForgetRequest, ForgetResponse } from '../../domain/blacklist.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import { idOf, isoOf, numberOf } from '../../domain/ids.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitFeed } from '../system/commit-feed.ts';
import type { Handlers, ServiceHooks, StartService } from '../system/service.ts';
import { commitThrough, type SystemAsk } from '../system/system-messages.ts';
import { FileRewrite } from './file-rewrite.ts';
import { finishPurges, retryMs, takeUpRest } from './interrupted-forgets.ts';
import { readdressAll } from './readdress-all.ts';
import { RuleEraser } from './rule-eraser.ts';

export interface ForgettingDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  feed: CommitFeed;
  canonicalize: CanonicalizeSettings;
  maxAttempts: number;
  compactAfterMs: number;
  log: Logger;
  now: () => number;
  /** Monotonic, ms. */
  monotonic: () => number;
}

/** Rules per read: half a millisecond. */
const rowsPerRead = 100;

type ForgettingMessages = 'page.forget' | 'blacklist.list' | 'blacklist.remove';

export function forgettingService(dependencies: ForgettingDependencies): StartService<ForgettingMessages> {
  const { ask, reader, feed, canonicalize, compactAfterMs, log, now } = dependencies;
  const commit = commitThrough(ask);

  const start = async ({ ending }: ServiceHooks) => {
    const stopped = new AbortController();
    let retrying: NodeJS.Timeout | undefined;
    const inTurn = pLimit(1);
    const rewrite = new FileRewrite({ ask, reader, commit, afterMs: compactAfterMs, log });
    const eraser = new RuleEraser({
      ...dependencies,
      commit,
      onUntracked: () => rewrite.dueUntracked(),
      stopped: stopped.signal,
    });
    const unsubscribe = feed.subscribe('durable', ({ tombstones }) => {
      if (tombstones.some(({ state }) => state !== 'verified')) rewrite.due();
    });

    const interrupted = { ask, reader, eraser, rewrite, ending, log };
    const takeUp = async () => {
      if (await takeUpRest(interrupted)) return;
      retrying = setTimeout(() => void inTurn(takeUp), retryMs);
    };
    await inTurn(() => finishPurges(interrupted));
    await inTurn(takeUp);
    const readdressing = readdressAll({ ...dependencies, commit, eraser, inTurn, ending });

    const handlers: Handlers<ForgettingMessages> = {
      'page.forget': async (request): Promise<ForgetResponse> => {
        const target = targetOf(request, now(), canonicalize);
        return inTurn(async () => {
          const rule = await commit(beginForget(target));
          const { pages, jobs } = await eraser.erase(rule);
          return {
            blacklist_id: idOf('blacklist', rule.no),
            pattern: rule.pattern,
            kind: rule.kind,
            pages_purged: pages,
            vector_deletes_queued: jobs,
          };
        });
      },
      'blacklist.list': () => ({ entries: entriesOf(reader) }),
      'blacklist.remove': async ({ blacklist_id }) =>
        inTurn(async () => {
          const no = numberOf('blacklist', blacklist_id);
          const rule = no === null ? undefined : reader.blacklist.get(no);
          if (rule?.purging) await eraser.erase(rule); // what it forgets is not saved by taking it away
          if (rule === undefined || !(await commit(removeRule(rule.no)))) {
            throw unknownId('blacklist', blacklist_id);
          }
          return undefined;
        }),
    };

    return {
      handlers,
      stop: async () => {
        stopped.abort();
        clearTimeout(retrying);
        unsubscribe();
        const lastTurn = inTurn(() => undefined);
        await Promise.all([lastTurn, readdressing, rewrite.stop()]);
      },
    };
  };
  return start;
}

/** All rules in the contract's form, newest first, read in parts. */
async function* entriesOf({ blacklist }: StoreReader): AsyncGenerator<BlacklistResponse['entries'][number]> {
  for (let rules = blacklist.list(undefined, rowsPerRead); rules.length > 0; ) {
    for (const { no, pattern, kind, reason, created_at } of rules) {
      yield { id: idOf('blacklist', no), pattern, kind, reason, created_at: isoOf(created_at) };
    }
    rules = blacklist.list(rules[rules.length - 1].no, rowsPerRead);
  }
}

/** Errors: DomainError `invalid` for an invalid address or a public suffix. */
function targetOf(
  { url, domain, reason }: ForgetRequest,
  at: number,
  canonicalize: CanonicalizeSettings,
): ForgetTarget {
  const rest = { reason: reason ?? null, at };
  if (url != null) {
    const canonical = canonicalizeUrl(url, canonicalize);
    if ('invalid' in canonical) throw new DomainError('invalid', canonical.invalid);
    return { kind: 'url', pattern: canonical.canonical_url, settings: canonicalize, ...rest };
  }
  const pattern = normalizeDomain(domain ?? '');
  if (typeof pattern !== 'string') throw new DomainError('invalid', pattern.invalid);
  if (isPublicSuffix(pattern)) {
    throw new DomainError('invalid', `anybody may have a domain under ${pattern}: name the domain in full`);
  }
  return { kind: 'domain', pattern, ...rest };
}
