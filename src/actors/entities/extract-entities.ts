/** The handler of `extract_entities` jobs, for pages whose names do not come with vectors (page-entities.ts). */
import { setTimeout as delay } from 'node:timers/promises';
import { storeNames } from '../../commands/page-entities.ts';
import { JobError } from '../../domain/errors.ts';
import { localProvider } from '../../domain/model.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';
import type { TakeTurn } from '../models/fill-built-in.ts';
import { encodePages } from '../models/model-embedder.ts';
import { extendTimeUnlessSuspect, type JobHandler } from '../system/job-actor.ts';
import type { LibraryParts } from '../system/service.ts';

interface ExtractEntitiesDependencies extends Pick<LibraryParts, 'reader' | 'now'> {
  embedders: Pick<Embedders, 'passages'>;
  takeTurn: TakeTurn;
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Retry time while the encoder cannot be used, ms. */
const unusableMs = 120_000;
/** How often the wait checks for a stop, ms. */
const waitStepMs = 1000;
/** Passages read before other libraries get their turn. */
const passagesAtOnce = 16;

export function extractEntitiesHandler(dependencies: ExtractEntitiesDependencies): JobHandler {
  const { reader, embedders, takeTurn, now, wait = (ms, signal) => delay(ms, undefined, { signal }) } = dependencies;
  return async (job, context) => {
    const { page_no, max_attempts } = job;
    const extendTime = extendTimeUnlessSuspect(job, context);
    /** Waits, so that other pages are not tried one by one. Releases a suspect, because it blocks all other jobs. */
    const laterIfUnusable = async (error: unknown): Promise<never> => {
      if (!(error instanceof ProviderError && error.code === 'unreachable')) throw error;
      if (job.suspect) throw new BreakerOpenError(localProvider, unusableMs, error.message);
      for (let waited = 0; waited < unusableMs; waited += waitStepMs) {
        await wait(waitStepMs, context.signal);
        await extendTime();
      }
      throw new BreakerOpenError(localProvider, 0, error.message);
    };
    const text = page_no === null ? undefined : reader.pages.body(page_no);
    const head = page_no === null ? undefined : reader.pages.head(page_no);
    if (page_no === null || text === undefined || head === undefined)
      throw new JobError('the page has no text', { permanent: true });
    const { title, content_hash } = head;
    const chunks = reader.pages.chunks(page_no);
    const names: number[] = [];
    for (let at = 0; at < chunks.length; at += passagesAtOnce) {
      const some = chunks.slice(at, at + passagesAtOnce);
      const found = await takeTurn(
        () => encodePages(embedders, [{ title, text, ordinals: [at], chunks: some }], context.signal),
        { signal: context.signal, extendTime },
      ).catch(laterIfUnusable);
      for (const spans of found.names) names.push(...spans);
      if (at + passagesAtOnce < chunks.length) await extendTime();
    }
    return (transaction) => {
      const page = transaction.pages.get(page_no);
      // The page may be gone, have another text, or belong to another job.
      if (page?.entity_job !== job.no || page.content_hash !== content_hash) return;
      storeNames(transaction, page, names, { at: now(), max_attempts });
    };
  };
}
