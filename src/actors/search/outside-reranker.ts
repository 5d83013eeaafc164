/**
 * Reranks a search's candidates by the model of `reranker.provider` (`reranker.kind` `api`): the first of the order so far are sent as texts. Those
 * that it has scored by the deadline are ordered among the places that they held, and all others keep theirs; it is asked in their order, so what is
 * late are the last. A search does not fail of it and waits no longer.
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
  /** Candidates that are sent, the first ones. */
  maxCandidates: number;
  /** How long a search waits, ms. */
  deadlineMs: number;
  /** Told how many candidates were scored in time, and how many were not. */
  onScored: (scored: number, late: number) => void;
  log: Logger;
}

export interface Reranked {
  /** Every candidate once, best first. */
  hits: FusedHit[];
  /** Labels of those that the reranker scored; the others stand below them in the order that they had. */
  scored: ReadonlySet<number>;
  /** Not all that were sent were scored in time. */
  isPartial: boolean;
}

export interface OutsideReranker {
  name: string;
  /**
   * The candidates in the model's order, with scores in 0..1; null where it scored none.
   * Shapes: `hits` best first.
   * Errors: the reason of the caller's signal.
   */
  rerank(
    query: string,
    hits: readonly FusedHit[],
    pageOf: ReadonlyMap<number, number>,
    signal: AbortSignal | undefined,
  ): Promise<Reranked | null>;
}

export function openOutsideReranker(dependencies: OutsideRerankerDependencies): OutsideReranker {
  const { reranker, name, reader, maxCandidates, deadlineMs, onScored, log } = dependencies;
  return {
    name,
    async rerank(query, hits, pageOf, signal) {
      const sent: FusedHit[] = [];
      const texts: string[] = [];
      for (const hit of hits.slice(0, maxCandidates)) {
        const page = pageOf.get(hit.label);
        const text = page === undefined ? null : passageText(reader, page, hit.label);
        if (text === null) continue; // its page has gone meanwhile
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
        // What no search can change was said at the start.
        log[code === 'breaker_open' || code === 'unconfigured' ? 'debug' : 'warn'](
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
