/**
 * A real store with indexed pages, and an index that finds what the test says: enough to see what the retriever makes of hits.
 * Each page has as many chunks as words, chunk n being its nth word.
 */

import assert from 'node:assert/strict';
import type {
  Retrieved,
  RetrieveRequest,
  StartService,
  SystemAsk,
  SystemMessageName,
} from '../../src/actors/system/service.ts';
import { ingestPage } from '../../src/commands/ingest-page.ts';
import { installModel } from '../../src/commands/manage-models.ts';
import { textFragmentLink } from '../../src/compute/web/text-fragment.ts';
import type { EmbeddingModel } from '../../src/domain/model.ts';
import type { Command } from '../../src/store/store.ts';
import type { MarkedPassage, MarkTask } from '../../src/threads/search-thread.ts';
import { submission } from '../commands/submissions.ts';
import { chunkRow } from '../machines/rows.ts';
import { TemporaryStore } from '../store/temporary-store.ts';
import { Hosted } from './hosted.ts';

export interface ShelvedPage {
  title?: string;
  /** `https://example.com/` and the page's number where it says none. */
  url?: string;
  /** Words; each is a chunk. */
  text: string;
  seen_at?: number;
  /** Per vector space, a vector for each chunk. */
  vectors?: Record<number, number[][]>;
}

type Answer = (request: never, signal: AbortSignal | undefined) => unknown;

export class Shelf implements AsyncDisposable {
  readonly temporary: TemporaryStore;
  /** What the index finds: labels by model, best first. */
  finds: Record<string, { sparse: number[]; dense: number[] }> = {};
  /** Pages of the host that the query is. */
  ofHost: ReadonlySet<number> = new Set();
  /** Labels of passages that the query names. */
  named: Pick<Retrieved, 'titled' | 'verbatim'> = { titled: [], verbatim: [] };
  readonly retrievals: RetrieveRequest[] = [];
  /** Answers of messages beside the index's and the writer's. */
  readonly answers: Partial<Record<SystemMessageName, Answer>> = {};
  #pages = 0;

  private constructor(temporary: TemporaryStore) {
    this.temporary = temporary;
  }

  static async open(): Promise<Shelf> {
    const shelf = new Shelf(await TemporaryStore.open());
    await shelf.install('m1');
    return shelf;
  }

  get reader() {
    return this.temporary.reader;
  }

  /** A ready model; the first one is the active one. */
  async install(id: string): Promise<EmbeddingModel> {
    const model = { id, provider: 'local', model_name: id, dim: 2, max_input_tokens: 10, floor: null };
    if (this.reader.models.activeId() === null)
      return this.temporary.commit(installModel(model, { at: 0, max_attempts: 1 }));
    return this.temporary.commit(({ models, counters }) => {
      const another: EmbeddingModel = { ...model, space: counters.take('space'), status: 'ready' };
      models.put(another);
      return another;
    });
  }

  /** Put an indexed page there; gives its first label. */
  async add({ title = 'A page', url, text, seen_at = 1000, vectors = {} }: ShelvedPage): Promise<number> {
    const no = ++this.#pages;
    const canonical_url = url ?? `https://example.com/${no}`;
    await this.temporary.commit(ingestPage(submission({ canonical_url, title, body: text, seen_at, at: 0 })));
    const chunks = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => chunkRow(index, index + word.length));
    const rows = Object.entries(vectors).map(([space, each]): [number, Float32Array] => [
      Number(space),
      Float32Array.from(each.flat()),
    ]);
    return this.temporary.index({ page_no: no, chunks, vectors: new Map(rows) });
  }

  readonly ask: SystemAsk = async (name, request, options) => {
    const answer = this.answers[name];
    if (answer !== undefined) return answer(request as never, options?.signal) as never;
    if (name === 'store.commit') {
      return this.temporary.commit((request as { command: Command<unknown> }).command) as never;
    }
    if (name === 'index.nearPages' || name === 'index.relatedPages') return [] as never;
    if (name === 'index.markPassages') return unmarked(request as never) as never;
    assert.equal(name, 'index.retrieve');
    return this.#retrieve(request as RetrieveRequest) as never;
  };

  host(start: StartService): Hosted {
    return new Hosted(start);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.temporary[Symbol.asyncDispose]();
  }

  #retrieve(request: RetrieveRequest): Retrieved {
    this.retrievals.push(request);
    const { sparse, dense } = this.finds[request.model] ?? { sparse: [], dense: [] };
    const pages = [...this.reader.pages.all()];
    const pageOf = (label: number) =>
      pages.find((page) => label >= page.first_label && label < page.first_label + page.chunk_count)?.no ?? 0;
    const passes = (no: number) => request.filters.pages?.has(no) ?? true;
    const side = (found: number[]) => {
      const labels = found.filter((label) => passes(pageOf(label)));
      return {
        labels: Uint32Array.from(labels),
        scores: Float32Array.from(labels, (_, rank) => 1 - rank / 10),
      };
    };
    return {
      sparse: side(sparse),
      dense: side(dense),
      cosines: null,
      covered: 1,
      askedWords: 3,
      corrected: [],
      stems: [],
      relevance: null,
      ...this.named,
      sketches: new Map(),
      pageOf: new Map([...sparse, ...dense].flatMap((label) => (pageOf(label) === 0 ? [] : [[label, pageOf(label)]]))),
      lastSeenAt: new Map(pages.map(({ no, last_seen_at }) => [no, last_seen_at])),
      ofHost: this.ofHost,
      // An index that knows nothing of phrases: they may be everywhere.
      quoting: new Map(
        request.phrases.length === 0
          ? []
          : pages.map(({ no, first_label, chunk_count }) => {
              const labels = Uint32Array.from({ length: chunk_count }, (_, ordinal) => first_label + ordinal);
              return [no, request.phrases.map(() => labels)];
            }),
      ),
      timing_ms: { sparse: 1 },
    };
  }
}

/** Nothing is highlighted, and the whole is the snippet. */
function unmarked({ passages }: MarkTask): MarkedPassage[] {
  return passages.map(({ text, url }) => {
    const snippet = { start: 0, end: text.length };
    return { highlights: [], snippet, link: textFragmentLink(url, text, snippet) };
  });
}
