/**
 * Brings the addresses of all pages up to date in the background, after a change of `canonicalize.*` or of the rules of this version
 * (src/commands/readdress-pages.ts). Only pages whose address changes are written. Its slices take turns with forgets.
 */
import type { LimitFunction } from 'p-limit';
import { renameTopics } from '../../commands/forget.ts';
import { addressesKey, allReaddressed, currentAddress, readdressPages } from '../../commands/readdress-pages.ts';
import { inParts, untilDone } from '../system/background.ts';
import { type LibraryParts, maxBatch } from '../system/service.ts';
import type { RuleEraser } from './rule-eraser.ts';

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
/** After a failure, such as a full disk, ms. */
const retryMs = 60_000;

/** Resolves when all is done or the service stops. Errors: none. */
export function readdressAll(dependencies: ReaddressDependencies): Promise<void> {
  const { ending, log } = dependencies;
  const onFailure = (err: unknown) =>
    log.warn({ err }, 'addresses of pages could not be brought up to date: tried again');
  return untilDone(() => readdress(dependencies), { ending, retryMs, onFailure });
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
  await new Promise(setImmediate); // a commit that ends now still has its transaction
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
