/** A service answers messages until it stops. A fatal error (`crash`) closes and reopens the library (library.ts). */
import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { outsideTraces } from '../../compute/span.ts';
import { unlessAborted } from '../../compute/unless-aborted.ts';
import type { CanonicalizeSettings } from '../../compute/web/canonical-url.ts';
import { DomainError } from '../../domain/errors.ts';
import type { IndexState, MessageName, Messages } from '../../domain/messages.ts';
import type { LabelRange, PageFilters } from '../../domain/page.ts';
import type { QueryClauses } from '../../domain/query-clause.ts';
import type { SearchFacets, SearchRequest } from '../../domain/search.ts';
import type { PreparedPages } from '../../engine/prepare-page.ts';
import type { Candidates } from '../../engine/retrieve.ts';
import type { Changes } from '../../store/commit.ts';
import type { Command, StoreReader } from '../../store/store.ts';
import type { LibraryMetrics } from '../../telemetry/metrics.ts';
import type { MarkedPassage, MarkTask } from '../../threads/search-thread.ts';
import type { NearPage, RelatedPage } from '../indexes/page-space.ts';

/** The parts of a library that services and handlers of jobs share. */
export interface LibraryParts {
  ask: SystemAsk;
  reader: StoreReader;
  commit: CommitCommand;
  feed: CommitFeed;
  metrics: LibraryMetrics;
  canonicalize: CanonicalizeSettings;
  /** Max attempts of new jobs. */
  maxAttempts: number;
  log: Logger;
  /** Wall clock, ms. */
  now: () => number;
  /** Monotonic, ms. */
  monotonic: () => number;
}

export type Handlers<Names extends SystemMessageName> = {
  [Name in Names]: (
    request: SystemRequestOf<Name>,
    signal: AbortSignal | undefined,
  ) => SystemReplyOf<Name> | Promise<SystemReplyOf<Name>>;
};

export interface Service<Names extends SystemMessageName> {
  handlers: Handlers<Names>;
  /** Frees every resource; called once, after the last request. */
  stop?(): Promise<void>;
}

export interface ServiceHooks {
  crash(error: unknown): void;
  /** Aborted on stop or crash, also during the start. */
  ending: AbortSignal;
}

export type StartService<Names extends SystemMessageName = never> = (hooks: ServiceHooks) => Promise<Service<Names>>;

export type RunningService = ReturnType<typeof runService>;

/** `crashed` is called at most once. */
export function runService<Names extends SystemMessageName>(
  start: StartService<Names>,
  crashed: (error: unknown) => void,
) {
  const held = new Set<Promise<unknown>>();
  const ending = new AbortController();
  /** Aborted on a crash; its reason refuses waiting and later requests. */
  const crashing = new AbortController();
  setMaxListeners(0, crashing.signal);

  const crash = (error: unknown) => {
    if (crashing.signal.aborted) return;
    crashing.abort(new DomainError('store_unavailable', 'a part of the library has failed', { retryAfterS: 1 }));
    ending.abort();
    crashed(error);
  };
  const started = Promise.resolve().then(() => start({ crash, ending: ending.signal }));
  started.catch(() => {}); // reported by `ready`, and to each caller

  const serve = async (name: SystemMessageName, request: unknown, signal: AbortSignal | undefined) => {
    const { handlers } = await started;
    crashing.signal.throwIfAborted(); // may have crashed meanwhile
    signal?.throwIfAborted();
    const handle = handlers[name as Names] as (request: unknown, signal?: AbortSignal) => unknown;
    return handle(request, signal);
  };

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    ending.abort();
    const service = await started.catch(() => null); // a service that did not start has freed its resources
    await Promise.allSettled(held);
    await service?.stop?.();
  };
  return {
    /** Errors: why it could not start. */
    ready: started as Promise<Pick<Service<never>, 'handlers'>>,
    /** Errors: those of the handler; DomainError `store_unavailable` after a crash, `shutting_down` after a stop. */
    handle: async (name: SystemMessageName, request: unknown, signal: AbortSignal | undefined) => {
      crashing.signal.throwIfAborted();
      if (ending.signal.aborted) throw new DomainError('shutting_down', 'the service is stopping');
      const served = unlessAborted(serve(name, request, signal), crashing.signal);
      held.add(served);
      try {
        return await served;
      } finally {
        held.delete(served);
      }
    },
    /** Refuse new requests, answer accepted ones, free resources. Errors: those of freeing a resource. */
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

export interface SearchWords {
  query: string;
  /** Whether the last word may be unfinished. */
  prefix: boolean;
  /** Whether unknown words are corrected; not while the index is being rebuilt. */
  spelling: boolean;
  /** Pages with all of these come first. */
  phrases: readonly string[];
  filters: PageFilters;
  /** Excludes pages that do not match. */
  clauses: QueryClauses;
}

export interface RetrieveRequest extends SearchWords {
  candidates: number;
  /** Model of the dense search. */
  model: string;
  relevance: boolean;
  sketches: boolean;
  /** Whether to search without vectors. */
  byWords: boolean;
}

/** Returns all pages that match. `top`: number of first pages wanted. */
export interface MatchRequest
  extends SearchWords,
    Pick<SearchRequest, 'sort' | 'facets' | 'collapse' | 'min_relevance'> {
  top: number;
  /** IANA name of the time zone, for counts by month. */
  zone: string;
  /** For order by relevance: the results and their duplicates. Results are always counted, their duplicates never. */
  listed?: readonly ListedPage[] | undefined;
}

export interface ListedPage {
  page_no: number;
  /** Pages that this page stands for, too. */
  duplicates: readonly number[];
}

export interface MatchedPages {
  total: number;
  /** The first pages, in order; empty when ordered by relevance. */
  first: ListedPage[];
  facets: SearchFacets | null;
}

/** Pages of the candidates at the time of the search. */
export interface CandidatePages {
  /** By label; deleted labels are left out. */
  pageOf: ReadonlyMap<number, number>;
  /** ms. */
  lastSeenAt: ReadonlyMap<number, number>;
  /** Pages of the query's host that pass the filters. */
  ofHost: ReadonlySet<number>;
  /** Pages that may have every phrase. Per phrase: passages in which it may begin or end. */
  quoting: ReadonlyMap<number, readonly Uint32Array[]>;
}

export interface Retrieved extends CandidatePages, Candidates {}

export interface RankedPages {
  /** Best first. */
  pages: number[];
  /** Every page with a candidate chunk, ordered by its best chunk before reranking. */
  candidates: number[];
  reranker: string | null;
}

/** Request for pages near the mean of these pages' vectors. */
export interface NearPagesRequest {
  /** Null: the active one. */
  model: string | null;
  page_nos: readonly number[];
  k: number;
  except: readonly number[];
  filters: PageFilters;
  /** Also return pages below the model's floor, because they are related by other evidence. */
  anyScore?: boolean;
}

interface InternalMessages {
  /** Rewrite the store's file without deleted data. Reads continue, writes wait. Errors: file system errors. */
  'store.compact': { request: Record<string, never>; reply: { bytesBefore: number; bytesAfter: number } };
  /** Pages of a domain and its subdomains, as of the last answered commit. */
  'index.pagesUnder': { request: { domain: string }; reply: number[] };
  'index.domains': {
    request: { beginning: string; limit: number };
    reply: readonly { domain: string; pages: number }[];
  };
  'index.state': { request: Record<string, never>; reply: IndexState };
  /** Pages without a chunk, as of the last answered commit. */
  'index.pagesWithoutChunks': { request: Record<string, never>; reply: number[] };
  /** Searches that begin later do not find these pages. */
  'index.remove': { request: { pages: readonly LabelRange[] }; reply: undefined };
  /** Dead content of the files at start, and whether a file was set aside after a crash or as an older format. */
  'index.recoveryReport': { request: Record<string, never>; reply: { dropped: number; setAside: boolean } };
  /** Rewrite index files without removed content, and delete `*.bad` files. `clean`: nothing was added meanwhile. */
  'index.purge': { request: Record<string, never>; reply: { clean: boolean } };
  /** Why the last write was refused, or null. After a failure, the question triggers a test write. */
  'store.trouble': { request: Record<string, never>; reply: string | null };
  /** Run a command in the next transaction; replies when durable. */
  'store.commit': { request: { command: Command<unknown>; weight: number }; reply: unknown };
  /** Make chunks searchable, remove those they replace. `pages`: labels of each; `vectors`: by space, rows of all. */
  'index.add': {
    request: {
      /** Null if the words are already in the index. */
      segment: PreparedPages['segment'] | null;
      vectors: ReadonlyMap<number, Float32Array>;
      pages: readonly LabelRange[];
      obsolete: readonly LabelRange[];
    };
    reply: undefined;
  };
  /** Add stored vectors, and the pages (by first label) that they complete. Opens the space; ignores deleted models. */
  'index.addVectors': {
    request: {
      model_id: string;
      space: number;
      chunks: readonly LabelRange[];
      rows: Float32Array;
      whole: readonly number[];
    };
    reply: undefined;
  };
  /** Replies when the model's space is complete in memory. */
  'index.openSpace': { request: { model_id: string }; reply: undefined };
  /** Replies when the space's files are deleted. */
  'index.dropSpace': { request: { space: number }; reply: undefined };
  'index.nearPages': { request: NearPagesRequest; reply: NearPage[] };
  /** Pages that are mutual near neighbours of at least one of these pages. */
  'index.relatedPages': { request: Omit<NearPagesRequest, 'anyScore'> & { few: number }; reply: RelatedPage[] };
  /** Rank without answering or logging. An inactive model must be ready. JobError if a provider fails to answer. */
  'search.rank': { request: { request: SearchRequest; model: string | null; isLocal: boolean }; reply: RankedPages };
  'index.retrieve': { request: RetrieveRequest; reply: Retrieved };
  'index.match': { request: MatchRequest; reply: MatchedPages };
  /** Positions of the query's stems in passages, snippets and links. */
  'index.markPassages': { request: MarkTask; reply: readonly MarkedPassage[] };
  /** Assign completed pages to the topics of their nearest pages. Replies before it is done. */
  'cluster.place': { request: { page_nos: readonly number[] }; reply: undefined };
}

type SystemMessages = Messages & InternalMessages;
export type SystemMessageName = MessageName | keyof InternalMessages;
export type SystemRequestOf<Name extends SystemMessageName> = SystemMessages[Name]['request'];
export type SystemReplyOf<Name extends SystemMessageName> = SystemMessages[Name]['reply'];

export type SystemAsk = <Name extends SystemMessageName>(
  name: Name,
  request: SystemRequestOf<Name>,
  options?: { signal?: AbortSignal | undefined },
) => Promise<SystemReplyOf<Name>>;

/** Run a command by the writer. `weight`: its number of records, default 1; heavy ones get their own transaction. */
export type CommitCommand = <Reply>(command: Command<Reply>, weight?: number) => Promise<Reply>;

/** Max weight of a transaction, which blocks the event loop some 50 µs per new page. 256 took 10 to 20 % longer. */
export const maxBatch = 1024;

export function commitThrough(ask: SystemAsk): CommitCommand {
  return <Reply>(command: Command<Reply>, weight = 1) => ask('store.commit', { command, weight }) as Promise<Reply>;
}

export interface CommittedChanges extends Changes {
  opstamp: number;
}

export type CommitListener = (changes: CommittedChanges) => void;

/** The two moments may be far apart. */
export type CommitMoment = 'visible' | 'durable';

/** Publishes commits in order: `visible` for projections; `durable`, which may never come, for files and clients. */
export class CommitFeed {
  readonly #listeners: Record<CommitMoment, Set<CommitListener>> = { visible: new Set(), durable: new Set() };

  subscribe(moment: CommitMoment, listener: CommitListener): () => void {
    this.#listeners[moment].add(listener);
    return () => this.#listeners[moment].delete(listener);
  }

  /** Returns the listeners' errors. Listeners run outside the writer's trace. */
  publish(moment: CommitMoment, changes: CommittedChanges): unknown[] {
    const errors: unknown[] = [];
    for (const listener of this.#listeners[moment]) {
      try {
        outsideTraces(() => listener(changes));
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  }
}
