/** Reranks candidates that an outside model scores by the deadline. It never fails a search or delays it further. */

import type { Logger } from 'pino';
import { embeddingText } from '../../compute/embedding/embedding-text.ts';
import { type FusedHit, mergeReranked } from '../../compute/ranking/fuse-rrf.ts';
import type { Reranker } from '../../providers/api-reranker.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';
import type { StoreReader } from '../../store/store.ts';

export interface OutsideRerankerDependencies {
  reranker: Reranker;
  /** Name in the query log. */
  name: string;
  reader: StoreReader;
  maxCandidates: number;
  deadlineMs: number;
  onScored: (scored: number, late: number) => void;
  log: Logger;
}

export interface Reranked {
  /** Every candidate once, best first. */
  hits: FusedHit[];
  /** Scored labels. The other candidates follow in their former order. */
  scored: ReadonlySet<number>;
  /** Whether some candidates were not scored in time. */
  isPartial: boolean;
}

export type OutsideReranker = ReturnType<typeof openOutsideReranker>;

export function openOutsideReranker(dependencies: OutsideRerankerDependencies) {
  const { reranker, name, reader, maxCandidates, deadlineMs, onScored, log } = dependencies;
  return {
    name,
    /**
     * Scores are in 0..1. Null if none was scored.
     * Shapes: `hits` best first.
     * Errors: the caller's abort reason.
     */
    async rerank(
      query: string,
      hits: readonly FusedHit[],
      pageOf: ReadonlyMap<number, number>,
      signal: AbortSignal | undefined,
    ): Promise<Reranked | null> {
      const sent: FusedHit[] = [];
      const texts: string[] = [];
      for (const hit of hits.slice(0, maxCandidates)) {
        const page = pageOf.get(hit.label);
        const text = page === undefined ? null : passageText(reader, page, hit.label);
        if (text === null) continue; // its page was deleted meanwhile
        sent.push(hit);
        texts.push(text);
      }
      if (sent.length === 0) return { hits: [...hits], scored: new Set(), isPartial: false };
      try {
        const scores = await reranker.rerank(query, texts, { signal, deadlineMs });
        const inTime = sent.filter((_, at) => !Number.isNaN(scores[at]));
        const late = sent.length - inTime.length;
        onScored(inTime.length, late);
        if (inTime.length === 0) return null;
        const rest = [...sent.filter((_, at) => Number.isNaN(scores[at])), ...hits.slice(maxCandidates)];
        const given = scores.filter((score) => !Number.isNaN(score));
        const scored = new Set(inTime.map(({ label }) => label));
        return { hits: mergeReranked(inTime, given, rest), scored, isPartial: late > 0 };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ProviderError) && !(error instanceof BreakerOpenError)) throw error;
        const { provider, code, message } = error;
        onScored(0, sent.length);
        // The start has logged the missing configuration already.
        log[code === 'breaker_open' || code === 'unconfigured' ? 'debug' : 'warn'](
          { provider, code, reason: message },
          'answering without rerank',
        );
        return null;
      }
    },
  };
}

/** Null for a deleted label. */
function passageText(reader: StoreReader, pageNo: number, label: number): string | null {
  const page = reader.pages.head(pageNo);
  const chunk = page && reader.pages.chunk(pageNo, label - page.first_label);
  if (page === undefined || chunk === undefined) return null;
  const passage = reader.pages.bodySlice(pageNo, chunk.char_start, chunk.char_end);
  return embeddingText(page.title, chunk.section_title, passage);
}
