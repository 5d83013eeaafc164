/**
 * Reranks a search's candidates at an outside provider (`reranker.kind` `api`): the best of the fused order are sent as texts, the
 * others stay below them. A search does not fail of it and waits no longer than its deadline.
 */
import type { Logger } from 'pino';
import { embeddingText } from '../../compute/embedding/embedding-text.ts';
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import { mergeReranked } from '../../compute/ranking/merge-reranked.ts';
import type { Reranker } from '../../providers/api-reranker.ts';
import { BreakerOpenError, ProviderError } from '../../providers/provider-error.ts';
import type { StoreReader } from '../../store/store.ts';

export interface OutsideRerankerDependencies {
  reranker: Reranker;
  /** How the query log calls it. */
  name: string;
  reader: StoreReader;
  /** How long a search waits, ms. */
  deadlineMs: number;
  log: Logger;
}

export interface Reranked {
  /** Every candidate once, best first. */
  hits: FusedHit[];
  /** Labels of those that the reranker scored; the others stand below them in the order that they had. */
  scored: ReadonlySet<number>;
}

export interface OutsideReranker {
  name: string;
  /**
   * The candidates in the provider's order, with scores in 0..1; null where it did not answer.
   * Shapes: `fused` best first.
   * Errors: the reason of the caller's signal.
   */
  rerank(
    query: string,
    fused: readonly FusedHit[],
    pageOf: ReadonlyMap<number, number>,
    signal: AbortSignal | undefined,
  ): Promise<Reranked | null>;
}

/** Candidates that are sent: what hosted providers bill as one search. */
const maxSent = 100;

export function openOutsideReranker(dependencies: OutsideRerankerDependencies): OutsideReranker {
  const { reranker, name, reader, deadlineMs, log } = dependencies;
  return {
    name,
    async rerank(query, fused, pageOf, signal) {
      const sent: FusedHit[] = [];
      const texts: string[] = [];
      for (const hit of fused.slice(0, maxSent)) {
        const page = pageOf.get(hit.label);
        const text = page === undefined ? null : passageText(reader, page, hit.label);
        if (text === null) continue; // its page has gone meanwhile
        sent.push(hit);
        texts.push(text);
      }
      if (sent.length === 0) return { hits: [...fused], scored: new Set() };
      try {
        const scores = await reranker.rerank(query, texts, { signal, deadlineMs });
        const hits = mergeReranked(sent, scores, fused.slice(maxSent));
        return { hits, scored: new Set(sent.map(({ label }) => label)) };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ProviderError) && !(error instanceof BreakerOpenError)) throw error;
        const { provider, code, message } = error;
        log[code === 'breaker_open' ? 'debug' : 'warn'](
          { provider, code, reason: message },
          'answering without rerank',
        );
        return null;
      }
    },
  };
}

/** The text of a passage; null for a label that names none any more. */
function passageText(reader: StoreReader, pageNo: number, label: number): string | null {
  const page = reader.pages.head(pageNo);
  const chunk = page && reader.pages.chunk(pageNo, label - page.first_label);
  if (page === undefined || chunk === undefined) return null;
  const passage = reader.pages.bodySlice(pageNo, chunk.char_start, chunk.char_end);
  return embeddingText(page.title, chunk.section_title, passage);
}
