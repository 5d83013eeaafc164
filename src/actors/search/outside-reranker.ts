/**
 * Reranks a search's candidates at an outside provider (`reranker.kind` `api`): the best of the fused order are sent as texts, the
 * others stay below them. A search does not fail of it and waits no longer than its deadline.
 */
import type { Logger } from 'pino';
import { embeddingTexts } from '../../compute/embedding/embedding-text.ts';
import type { FusedHit } from '../../compute/ranking/fuse-rrf.ts';
import { mergeReranked } from '../../compute/rerank/merge-reranked.ts';
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

export interface OutsideReranker {
  name: string;
  /**
   * The candidates in the provider's order, with scores in 0..1; null where it did not answer.
   * Shapes: `fused` best first; the result has every candidate once, best first.
   * Errors: the reason of the caller's signal.
   */
  rerank(
    query: string,
    fused: readonly FusedHit[],
    pageOf: (label: number) => number,
    signal: AbortSignal | undefined,
  ): Promise<FusedHit[] | null>;
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
      const textOf = passageReader(reader, pageOf);
      for (const hit of fused.slice(0, maxSent)) {
        const text = textOf(hit.label);
        if (text === null) continue; // its page has gone meanwhile
        sent.push(hit);
        texts.push(text);
      }
      if (sent.length === 0) return [...fused];
      try {
        const scores = await reranker.rerank(query, texts, { signal, deadlineMs });
        return mergeReranked(sent, scores, fused.slice(maxSent));
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

/** Texts of passages, a page's text read once; null for a label that names none any more. */
function passageReader(reader: StoreReader, pageOf: (label: number) => number): (label: number) => string | null {
  const pages = new Map<number, { first: number; texts: readonly string[] }>();
  const open = (no: number) => {
    const page = reader.pages.get(no);
    if (page === undefined) return { first: 0, texts: [] };
    const texts = embeddingTexts(page.title, reader.pages.body(no) ?? '', reader.pages.chunks(no));
    return { first: page.first_label, texts };
  };
  return (label) => {
    const no = pageOf(label);
    const page = pages.get(no) ?? open(no);
    pages.set(no, page);
    return page.texts[label - page.first] ?? null;
  };
}
