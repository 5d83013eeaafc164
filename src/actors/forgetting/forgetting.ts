/** The service that forgets: rules, erased pages, rewritten files (docs/forgetting.md). Continues after a crash. */
import type { LimitFunction } from 'p-limit';
import pLimit from 'p-limit';
import { beginForget, type ForgetTarget, removeRule, renameTopics } from '../../commands/forget.ts';
import { addressesKey, allReaddressed, currentAddress, readdressPages } from '../../commands/readdress-pages.ts';
import { type CanonicalizeSettings, canonicalizeUrl, hostOf } from '../../compute/web/canonical-url.ts';
import { domainMatches, normalizeDomain } from '../../compute/web/domain-match.ts';
import { isPublicSuffix } from '../../compute/web/registered-names.ts';
import type { BlacklistResponse, ForgetRequest, ForgetResponse } from '../../domain/blacklist.ts';
import { demoDomain } from '../../domain/demo.ts';
import { DomainError, unknownId } from '../../domain/errors.ts';
import { idOf, isoOf, numberOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import { inParts, untilDone, withProgress } from '../system/background.ts';
import { type Handlers, type LibraryParts, maxBatch, type ServiceHooks, type StartService } from '../system/service.ts';
import { type FileRewrite, fileRewrite } from './file-rewrite.ts';
import { type RuleEraser, ruleEraser } from './rule-eraser.ts';

interface ForgettingDependencies
  extends Pick<
    LibraryParts,
    'ask' | 'reader' | 'commit' | 'feed' | 'canonicalize' | 'maxAttempts' | 'log' | 'now' | 'monotonic'
  > {
  compactAfterMs: number;
}

/** Rules per read: half a millisecond. */
const rowsPerRead = 100;

type ForgettingMessages = 'page.forget' | 'demo.remove' | 'blacklist.list' | 'blacklist.remove';

export function forgettingService(dependencies: ForgettingDependencies): StartService<ForgettingMessages> {
  const { ask, reader, commit, feed, canonicalize, compactAfterMs, log, now } = dependencies;

  const start = async ({ ending }: ServiceHooks) => {
    const inTurn = pLimit(1);
    const rewrite = fileRewrite({ ask, reader, commit, afterMs: compactAfterMs, log });
    const eraser = ruleEraser({ ...dependencies, commit, onUntracked: () => rewrite.dueUntracked() });
    const unsubscribe = feed.subscribe('durable', ({ tombstones }) => {
      if (tombstones.some(({ state }) => state !== 'verified')) rewrite.due();
    });

    const interrupted = { ask, reader, eraser, rewrite, ending, log };
    const retried = { ending, retryMs };
    // Pages of a purging rule are readable by id, so the service starts after they are erased.
    await untilDone(() => erasePurging(interrupted), {
      ...retried,
      onFailure: (err) =>
        log.error({ err }, 'an interrupted purge could not be finished: trying again before the service starts'),
    });
    const takingUp = untilDone(() => inTurn(() => continueOtherPurges(interrupted)), {
      ...retried,
      onFailure: (err) =>
        log.warn({ err }, 'an unfinished erasure of an earlier process could not continue: trying again'),
    });
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
      'demo.remove': () =>
        inTurn(async () => {
          const pages_purged = await eraser.eraseDomain(demoDomain);
          const rules = reader.blacklist.list().filter(({ kind, pattern }) => {
            return domainMatches(kind === 'url' ? hostOf(pattern) : pattern, demoDomain);
          });
          for (const { no } of rules) await commit(removeRule(no));
          return { pages_purged };
        }),
      'blacklist.list': () => ({ entries: entriesOf(reader) }),
      'blacklist.remove': async ({ blacklist_id }) =>
        inTurn(async () => {
          const no = numberOf('blacklist', blacklist_id);
          const rule = no === null ? undefined : reader.blacklist.get(no);
          if (rule?.purging) await eraser.erase(rule); // removing a purging rule does not save its pages
          if (rule === undefined || !(await commit(removeRule(rule.no)))) {
            throw unknownId('blacklist', blacklist_id);
          }
          return undefined;
        }),
    };

    return {
      handlers,
      stop: async () => {
        unsubscribe();
        await Promise.all([takingUp, inTurn(() => undefined), readdressing, rewrite.stop()]);
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
    throw new DomainError('invalid', `${pattern} is shared by many sites: give the full domain`);
  }
  return { kind: 'domain', pattern, ...rest };
}

interface InterruptedForgetsDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'log'> {
  eraser: RuleEraser;
  rewrite: FileRewrite;
  /** Aborted on stop: the next start continues. */
  ending: AbortSignal;
}

const retryMs = 1000;

async function erasePurging({ reader, eraser, ending, log }: InterruptedForgetsDependencies): Promise<void> {
  const rules = reader.blacklist.purging();
  if (rules.length === 0) return;
  log.info({ rules: rules.length }, 'an interrupted purge continues');
  const left = { rules: rules.length, pages: 0 };
  const tell = () => log.info({ rules_left: left.rules, pages_left: left.pages }, 'continuing an interrupted forget');
  await withProgress(tell, async () => {
    for (const rule of rules) {
      await eraser.erase(rule, (pages) => {
        ending.throwIfAborted();
        left.pages = pages;
      });
      left.rules--;
    }
  });
}

/** Continue the other purges, whose data is already unreadable. */
async function continueOtherPurges({
  ask,
  reader,
  eraser,
  rewrite,
  ending,
  log,
}: InterruptedForgetsDependencies): Promise<void> {
  if (ending.aborted) return;
  await eraser.noteSettings();
  const pages = await eraser.adoptOrphans();
  if (pages > 0) log.info({ pages }, 'an interrupted purge continues');
  const { dropped, setAside } = await ask('index.recoveryReport', {});
  if ((dropped > 0 || setAside) && reader.tombstones.any()) rewrite.dueUntracked();
  else rewrite.due();
}

interface ReaddressDependencies
  extends Pick<LibraryParts, 'reader' | 'commit' | 'canonicalize' | 'maxAttempts' | 'log' | 'now'> {
  eraser: Pick<RuleEraser, 'removeFromIndex' | 'queuePurges'>;
  inTurn: LimitFunction;
  /** Aborted on stop: the next start continues. */
  ending: AbortSignal;
}

/** Rows per turn of the event loop: some ms. */
const rowsPerTurn = 200;
const slicePages = 20;
/** Retry time after a failure, such as a full disk, ms. */
const readdressRetryMs = 60_000;

/** Updates all addresses after `canonicalize.*` or a rule changed. Slices and forgets alternate. Errors: none. */
function readdressAll(dependencies: ReaddressDependencies): Promise<void> {
  const { ending, log } = dependencies;
  const onFailure = (err: unknown) => log.warn({ err }, 'the addresses of pages could not be updated: trying again');
  return untilDone(() => readdress(dependencies), { ending, retryMs: readdressRetryMs, onFailure });
}

async function readdress({
  reader: { pages },
  commit,
  eraser,
  canonicalize: settings,
  maxAttempts,
  inTurn,
  ending,
  log,
  now,
}: ReaddressDependencies): Promise<void> {
  const total = { moved: 0, merged: 0 };
  const readdressSlice = (slice: readonly number[], to: number) =>
    inTurn(async () => {
      const { moved, erased } = await commit(readdressPages(slice, to, { settings, at: now() }), maxBatch);
      total.moved += moved;
      total.merged += erased.length;
      await eraser.removeFromIndex(erased);
    });
  const isOutdated = (no: number): boolean => {
    const page = pages.head(no);
    return page !== undefined && currentAddress(page, settings).canonical_url !== page.canonical_url;
  };
  await new Promise(setImmediate); // a commit that is ending may still have its transaction open
  const after = pages.addressesDoneTo(addressesKey(settings));
  if (after === allReaddressed || pages.count() === 0) return;
  for await (const numbers of inParts((from) => pages.numbersAfter(from, rowsPerTurn), Number, { after })) {
    const outdated = numbers.filter(isOutdated);
    for (let at = 0; at < outdated.length; at += slicePages) {
      if (ending.aborted) return;
      const slice = outdated.slice(at, at + slicePages);
      await readdressSlice(slice, slice[slice.length - 1]);
    }
    if (ending.aborted) return;
  }
  await readdressSlice([], allReaddressed);
  await inTurn(async () => {
    await eraser.queuePurges();
    await commit(renameTopics({ at: now(), max_attempts: maxAttempts }));
  });
  if (total.moved > 0) log.info(total, 'addresses of pages are up to date');
}
