/**
 * Compares pages with what the store has of their texts: chunks and, for a limited time, vectors of the built-in model, which are made
 * again. That takes time, so a sample is taken unless all pages are asked for. Index files have checksums and are not compared.
 */
import { embeddingTexts } from '../compute/embedding/embedding-text.ts';
import { seededRandom } from '../compute/seeded-random.ts';
import { isBuiltIn } from '../domain/model.ts';
import { areChunksOf, isBare, type Page } from '../domain/page.ts';
import type { EncodedTexts } from '../encoder/encoder.ts';
import type { PageTools } from '../engine/prepare-page.ts';
import type { StoreReader } from '../store/store.ts';

export interface Sample {
  seed: number;
  /** Maximum pages; Infinity: all. */
  pages: number;
}

export interface TextComparison {
  /** Vectors of passages by the built-in model. */
  encode: (texts: readonly string[]) => Promise<Pick<EncodedTexts, 'rows' | 'failed'>>;
  isOver: () => boolean;
}

/** Runtimes agree to .999; other texts of the same subject are below. */
const minTextCosine = 0.97;

export class PageComparison {
  readonly #reader: StoreReader;
  readonly #tools: Pick<PageTools, 'analyzer'>;
  readonly #seed: number;
  /** How many vectors were compared with their texts. */
  vectors = 0;
  /** Those that are compared. */
  readonly numbers: readonly number[];
  /** Numbers of pages whose chunks or vectors are not of their text. */
  readonly changed = new Set<number>();

  constructor(reader: StoreReader, tools: Pick<PageTools, 'analyzer'>, { seed, pages }: Sample) {
    this.#reader = reader;
    this.#tools = tools;
    this.#seed = seed;
    const indexed = [...reader.pages.all()].filter(
      ({ status, chunk_count }) => status === 'indexed' && chunk_count > 0,
    );
    this.numbers = shuffled(
      indexed.map(({ no }) => no),
      seededRandom(seed),
    ).slice(0, pages);
  }

  /** Without inconsistent rows, which the store's audit reports. */
  *#pages(): Generator<Page> {
    const { pages } = this.#reader;
    for (const no of this.numbers) {
      const page = pages.get(no);
      if (page === undefined || !pages.isWhole(no)) continue;
      const chunks = pages.chunks(no);
      if (chunks.length === page.chunk_count && areChunksOf(pages.bodyLength(no) ?? 0, chunks)) yield page;
    }
  }

  storeFindings(): string[] {
    const findings: string[] = [];
    for (const page of this.#pages()) {
      if (this.#isCovered(page)) continue;
      this.changed.add(page.no);
      findings.push(`page ${page.no}: words of its text are in no chunk`);
    }
    return findings;
  }

  /** Vectors of the built-in model in the store, one of a page, until the time is over. Errors: of the encoder. */
  async vectorFindings({ encode, isOver }: TextComparison): Promise<string[]> {
    const { models, vectors, pages } = this.#reader;
    const findings: string[] = [];
    const random = seededRandom(this.#seed);
    for (const { space, dim, id } of models.all().filter(isBuiltIn)) {
      for (const page of this.#pages()) {
        if (isOver()) break;
        const rows = vectors.get(space, page.no);
        const ordinal = Math.floor(random() * page.chunk_count);
        const row = rows?.subarray(ordinal * dim, (ordinal + 1) * dim);
        if (row === undefined || row.every((each) => each === 0)) continue;
        // Its title may have come after it was indexed.
        const titles = page.title === null ? [null] : [page.title, null];
        const [text, chunks] = [pages.body(page.no) ?? '', pages.chunks(page.no).slice(ordinal, ordinal + 1)];
        const texts = titles.flatMap((title) => embeddingTexts(title, text, chunks));
        const { rows: expected, failed } = await encode(texts);
        if (failed.size > 0) continue;
        const cosineWith = (at: number) => row.reduce((sum, each, i) => sum + each * expected[at * dim + i], 0);
        this.vectors++;
        if (texts.some((_, at) => cosineWith(at) >= minTextCosine)) continue;
        this.changed.add(page.no);
        findings.push(`page ${page.no}: a vector of ${id} is not of its text`);
      }
    }
    return findings;
  }

  /** Every word is in a chunk, unless the only chunk is bare; true for all settings of `chunkText`. */
  #isCovered({ no }: Page): boolean {
    const { pages } = this.#reader;
    const chunks = pages.chunks(no);
    if (isBare(chunks[0])) return true;
    const { terms, starts, ends } = this.#tools.analyzer.analyze(pages.body(no) ?? '');
    let chunk = 0;
    return terms.every((term, token) => {
      while (chunk < chunks.length && chunks[chunk].char_end <= starts[token]) chunk++;
      return term === 0 || (chunk < chunks.length && chunks[chunk].char_start < ends[token]);
    });
  }
}

/** Fisher and Yates. */
function shuffled<Item>(items: Item[], random: () => number): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other], items[last]];
  }
  return items;
}
