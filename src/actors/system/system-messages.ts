/**
 * All messages of the actor system: the public ones that routes may send, and the internal ones between actors. One map, so
 * that the table of who answers (services.ts) is complete or does not compile.
 */
import { DomainError } from '../../domain/errors.ts';
import type { IndexState, MessageName, Messages } from '../../domain/messages.ts';
import type { LabelRange } from '../../domain/page.ts';
import type { PageFilters } from '../../domain/page-filters.ts';
import type { QueryClauses } from '../../domain/query-clause.ts';
import type { SearchRequest } from '../../domain/search.ts';
import type { Marked } from '../../engine/highlight.ts';
import type { PreparedPages } from '../../engine/prepare-page.ts';
import type { Candidates } from '../../engine/retrieve.ts';
import type { NearPage } from '../../index/page-space.ts';
import { maxBatch } from '../../machines/writer.ts';
import type { Command } from '../../store/store.ts';

export interface RetrieveRequest {
  query: string;
  /** Its vector by an outside model, where the caller had it made. */
  vector?: Float32Array;
  candidates: number;
  filters: PageFilters;
  /** Embedding model of the dense side. */
  model: string;
  /** Whether the local reranker is to score the candidates: the first ones as they are fused with `rrf_k`. */
  rerank: boolean;
  /** Whether all of them are to be judged for relevance. */
  relevance: boolean;
  rrf_k: number;
  /** Pages that have all of these are wanted first. */
  phrases: readonly string[];
  /** No other pages may be found. */
  clauses: QueryClauses;
  /** Whether the last word may be unfinished. */
  prefix: boolean;
  /** Nobody waits for it: it is no sign that the service is in use. */
  background?: boolean;
}

/** What ranking asks of the pages that hold the candidates, as it was when they were found. */
export interface CandidatePages {
  /** The page of each candidate's label; a label of none any more is left out. */
  pageOf: ReadonlyMap<number, number>;
  /** When each page was last visited, ms. */
  lastSeenAt: ReadonlyMap<number, number>;
  /** The pages of the host that the query is; none where the query is no host, or no page of it passes the filters. */
  ofHost: ReadonlySet<number>;
  /** Those that may have every phrase: for each phrase the labels of the passages where it may begin or end. */
  quoting: ReadonlyMap<number, readonly Uint32Array[]>;
}

export interface Retrieved extends CandidatePages, Candidates {}

export interface RankedPages {
  /** Best first. */
  pages: number[];
  /** Every page with a candidate chunk, in the order of their best ones before any reranking. */
  candidates: number[];
  reranker: string | null;
}

/** Pages near to the mean of these pages' vectors. */
export interface NearPagesRequest {
  /** Embedding model of the vectors; null: the active one. */
  model: string | null;
  page_nos: readonly number[];
  k: number;
  /** Pages that are not wanted, beside those above. */
  except: readonly number[];
  filters: PageFilters;
  /** Also pages below the model's floor: something else says already that they belong together. */
  anyScore?: boolean;
}

export interface InternalMessages {
  /** Rewrite the store's file without what was deleted. Reads go on, writes wait. Errors: of the file system. */
  'store.compact': { request: Record<string, never>; reply: { bytesBefore: number; bytesAfter: number } };
  /** Numbers of the pages of a domain and those below it, as of the last commit that was answered. */
  'index.pagesUnder': { request: { domain: string }; reply: number[] };
  'index.state': { request: Record<string, never>; reply: IndexState };
  /** Numbers of the pages that have no chunk, as of the last commit that was answered. */
  'index.pagesWithoutChunks': { request: Record<string, never>; reply: number[] };
  /** Let go of pages' content: no search that starts afterwards finds it. */
  'index.remove': { request: { pages: readonly LabelRange[] }; reply: undefined };
  /** What the files held at the start beyond what is live, and whether one was set aside: a crash, or older files put back. */
  'index.heldAtStart': { request: Record<string, never>; reply: { dropped: number; setAside: boolean } };
  /** Rewrite index files and delete set-aside ones, so that nothing removed is left in them; `clean`: nothing came meanwhile. */
  'index.purge': { request: Record<string, never>; reply: { clean: boolean } };
  /** Why the last write was refused; null where it was not. Asking while there is trouble tries a write. */
  'store.trouble': { request: Record<string, never>; reply: string | null };
  /** Run a command in the writer's next transaction; the reply comes when it is on the disk. */
  'store.commit': { request: { command: Command<unknown>; weight: number }; reply: unknown };
  /**
   * Make the chunks of some pages searchable on both sides, and take the ones they replace out. `pages`: labels of each page;
   * `vectors`: by space, rows of all pages.
   */
  'index.add': {
    request: Pick<PreparedPages, 'segment'> & {
      vectors: ReadonlyMap<number, Float32Array>;
      pages: readonly LabelRange[];
      obsolete: readonly LabelRange[];
    };
    reply: undefined;
  };
  /**
   * Add stored vectors of pages to a model's space: of the stored rows, page by page. Opens the space if need be; nothing happens where
   * the model was deleted, or registered anew with another space.
   */
  'index.addVectors': {
    request: { model_id: string; space: number; pages: readonly LabelRange[]; rows: Float32Array };
    reply: undefined;
  };
  /** Answered when a model's space is in memory with everything that the store has for it, and the next start finds it saved. */
  'index.openSpace': { request: { model_id: string; save: boolean }; reply: undefined };
  /** Forget a space and delete its files; answered when they are gone. */
  'index.dropSpace': { request: { space: number }; reply: undefined };
  'index.nearPages': { request: NearPagesRequest; reply: NearPage[] };
  /** For each page most of the nearest to it. */
  'index.nearEach': { request: Omit<NearPagesRequest, 'except' | 'anyScore'>; reply: NearPage[][] };
  /** Rank without answering or logging; a model that is not the active one must be ready. JobError where a provider did not answer. */
  'search.rank': { request: { request: SearchRequest; model: string | null; isLocal: boolean }; reply: RankedPages };
  'index.retrieve': { request: RetrieveRequest; reply: Retrieved };
  /** Where passages have the words of a query, whose stems these are, and what of each is worth showing first. */
  'index.markPassages': {
    request: { passages: readonly { label: number; text: string }[]; stems: readonly string[] };
    reply: readonly Marked[];
  };
  /** Answered when nothing that was lost is still being brought back. */
  'index.settled': { request: Record<string, never>; reply: undefined };
}

export type SystemMessages = Messages & InternalMessages;
export type SystemMessageName = MessageName | keyof InternalMessages;
export type SystemRequestOf<Name extends SystemMessageName> = SystemMessages[Name]['request'];
export type SystemReplyOf<Name extends SystemMessageName> = SystemMessages[Name]['reply'];

export type SystemAsk = <Name extends SystemMessageName>(
  name: Name,
  request: SystemRequestOf<Name>,
  options?: { signal?: AbortSignal | undefined },
) => Promise<SystemReplyOf<Name>>;

/** Whether a message was refused because a queue was full: sent again later it may be taken. */
export function isOverloaded(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'overloaded';
}

/**
 * Run a command through the writer, with its reply's type. `weight`: how many records it is about, 1 unless said; commands of
 * many do not share a transaction.
 */
export type CommitCommand = <Reply>(command: Command<Reply>, weight?: number) => Promise<Reply>;

/** The weight of a command that shares its transaction with nobody. */
export const wholeBatch = maxBatch;

export function commitThrough(ask: SystemAsk): CommitCommand {
  return <Reply>(command: Command<Reply>, weight = 1) => ask('store.commit', { command, weight }) as Promise<Reply>;
}
