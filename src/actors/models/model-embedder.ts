/** Embeds stored pages with any registered model. */
import floorSample from '../../../models/floor-sample.json' with { type: 'json' };
import { setModelFloor } from '../../commands/manage-models.ts';
import { embeddingTexts, passagesToEmbed } from '../../compute/embedding/embedding-text.ts';
import type { NameSpans } from '../../compute/text/name-tags.ts';
import { spansInPage } from '../../compute/text/page-names.ts';
import { type EmbeddingModel, isBuiltIn } from '../../domain/model.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { ProviderError } from '../../providers/resilient-call.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitCommand } from '../system/service.ts';
import type { PageToEmbed } from './backfill-slices.ts';

type PageTexts = Pick<PageToEmbed, 'title' | 'text' | 'ordinals' | 'chunks'>;

export interface EmbeddedTexts extends TextVectors {
  /** Names in each chunk, with page offsets. Null if the encoder did not read them. */
  names: NameSpans[] | null;
}

/**
 * Vectors of pages and, from the encoder, the names in each chunk. Shapes: one row per chunk, page by page; zeros for
 * chunks without terms and refused ones. An outside provider may refuse at most `tolerated`. Errors: the provider's.
 */
export async function embedPages(
  embedders: Pick<Embedders, 'documentVectors' | 'passages'>,
  model: EmbeddingModel,
  pages: readonly PageTexts[],
  { signal, tolerated }: { signal: AbortSignal; tolerated: number },
): Promise<EmbeddedTexts> {
  if (isBuiltIn(model)) {
    const { rows, failed, names } = await encodePages(embedders, pages, signal);
    return { rows, refused: failed, names };
  }
  const passages = pages.flatMap(({ title, text, chunks }) => embeddingTexts(title, text, chunks));
  const embed = (texts: readonly string[]) => embedders.documentVectors(model, texts, signal);
  return { ...(await embedApart(passages, { dim: model.dim, embed, tolerated })), names: null };
}

/** Embeds pages' passages with the encoder; names get page offsets. Errors: as `passages`. */
export async function encodePages(
  embedders: Pick<Embedders, 'passages'>,
  pages: readonly PageTexts[],
  signal: AbortSignal,
): ReturnType<Embedders['passages']> {
  const toEmbed = pages.flatMap(({ title, text, ordinals, chunks }) =>
    passagesToEmbed(title, text, chunks, ordinals[0]),
  );
  const texts = toEmbed.map(({ text }) => text);
  const encoded = await embedders.passages(texts, signal);
  return { ...encoded, names: encoded.names.map((spans, at) => spansInPage(spans, toEmbed[at])) };
}

/*
 * Embeds texts at a provider that may refuse some (too long, a content filter, a vector of NaN). A refused batch is
 * halved until each refused text is alone: some 2 r log2(n / r) calls for r of n texts. First a harmless text is sent:
 * if it is refused too, the provider or its settings are wrong, and no other text is sent.
 */

interface TextVectors {
  /** One row per text; zeros for a refused text. */
  rows: Float32Array;
  refused: ReadonlyMap<number, string>;
}

interface EmbedApartOptions {
  dim: number;
  /** Returns the vectors of the texts in one array. */
  embed: (texts: readonly string[]) => Promise<Float32Array>;
  tolerated: number;
}

/** Errors: those of `embed`; a refusal only if a harmless text is refused too, or more than `tolerated` are. */
export async function embedApart(
  texts: readonly string[],
  { dim, embed, tolerated }: EmbedApartOptions,
): Promise<TextVectors> {
  const rows = new Float32Array(texts.length * dim);
  const refused = new Map<number, string>();
  let takesOthers = false;

  const fill = async (from: number, to: number): Promise<void> => {
    try {
      rows.set(await embed(texts.slice(from, to)), from * dim);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (!takesOthers) await tryHarmless(error);
      takesOthers = true;
      if (to - from > 1) {
        const middle = Math.floor((from + to) / 2);
        await fill(from, middle);
        await fill(middle, to);
      } else if (refused.size < tolerated) refused.set(from, error.message);
      else throw error;
    }
  };
  const tryHarmless = async (refusal: ProviderError) => {
    try {
      await embed([floorSample[0].passage]);
    } catch (error) {
      throw isRefusal(error) ? refusal : error;
    }
  };

  if (texts.length > 0) await fill(0, texts.length);
  return { rows, refused };
}

function isRefusal(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.mayBeOneText;
}

/*
 * Measures the floor of an outside model once, by three small requests. The floor is the 95th percentile of the cosines
 * of unrelated queries and passages; dense hits below it are dropped. It removes noise but does not rank: one unrelated
 * passage in twenty is above it. Without a floor, any passage would match any query. The sample has a passage and two
 * queries for each of 20 unrelated subjects, so 760 unrelated pairs.
 */

const floorQuantile = 0.95;

/** The floor, from the unit vectors of the sample's passages, and of its queries by subject. */
function floorOfSample(passages: readonly Float32Array[], queries: readonly Float32Array[][]): number {
  const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, each, at) => sum + each * b[at], 0);
  const cosines = queries
    .flatMap((ofSubject, subject) => {
      const others = passages.filter((_, other) => other !== subject);
      return ofSubject.flatMap((query) => others.map((passage) => dot(query, passage)));
    })
    .sort((a, b) => a - b);
  return cosines[Math.floor(cosines.length * floorQuantile)];
}

interface FloorCalibration {
  embedders: Pick<Embedders, 'queryVectors' | 'documentVectors'>;
  reader: Pick<StoreReader, 'models'>;
  commit: CommitCommand;
}

/** Makes sure that a model has a floor. Errors: those of the calls and the store. */
export type CalibrateOutside = (model: EmbeddingModel, signal: AbortSignal) => Promise<void>;

export function floorCalibrator({ embedders, reader, commit }: FloorCalibration): CalibrateOutside {
  /** By vector space. Concurrent callers share one measurement and its error. */
  const measuring = new Map<number, Promise<void>>();

  const measure = async (model: EmbeddingModel): Promise<void> => {
    const rowsOf = (rows: Float32Array) =>
      Array.from({ length: rows.length / model.dim }, (_, at) => rows.subarray(at * model.dim, (at + 1) * model.dim));
    const passages = await embedders.documentVectors(
      model,
      floorSample.map(({ passage }) => passage),
    );
    const queries = rowsOf(
      await embedders.queryVectors(
        model,
        floorSample.flatMap((subject) => subject.queries),
      ),
    );
    const bySubject = floorSample.map((_, at) => queries.slice(2 * at, 2 * at + 2));
    await commit(setModelFloor(model, floorOfSample(rowsOf(passages), bySubject)));
  };

  return async (model, signal) => {
    const { id, space } = model;
    if (reader.models.get(id)?.floor != null) return;
    signal.throwIfAborted();
    let measured = measuring.get(space);
    if (measured === undefined) {
      measured = measure(model).finally(() => measuring.delete(space));
      measuring.set(space, measured);
    }
    await measured;
  };
}
