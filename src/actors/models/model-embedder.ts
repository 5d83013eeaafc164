/** Embeds stored pages by any model of the registry. */
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
  /** Names in each chunk, as places of the page; null where the encoder did not read them. */
  names: NameSpans[] | null;
}

/**
 * Vectors of pages and, from the encoder, the names in each chunk. Shapes: chunks, page by page × dim; zeros for those
 * without terms or vector: an outside provider may refuse at most `tolerated`. Errors: those of the provider.
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

/** The passages of pages through the encoder; names are places of their pages. Errors: as of `passages`. */
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
 * halved until the texts at fault are alone: some 2 r log2(n / r) calls for r of n texts. A harmless text is sent
 * first: if it is refused too, the provider or its settings are at fault, and no other text is sent.
 */

interface TextVectors {
  /** One row a text, zeros for one that is refused. */
  rows: Float32Array;
  refused: ReadonlyMap<number, string>;
}

interface EmbedApartOptions {
  dim: number;
  /** Vectors of texts, one after the other. */
  embed: (texts: readonly string[]) => Promise<Float32Array>;
  tolerated: number;
}

/** Errors: those of `embed` that no text causes; a refusal beyond the tolerated ones, or of a harmless text too. */
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
 * Measures an outside model's floor once, by three small requests: without one, any passage would match any query. It is
 * the 95th percentile of the cosines of unrelated queries and passages, below which dense hits are dropped. One
 * unrelated passage in twenty is above: it removes noise, it does not rank. The sample has a passage and two queries for
 * each of 20 unrelated subjects, so 760 unrelated pairs.
 */

const floorQuantile = 0.95;

/** The floor from the unit vectors of the sample's passages, and of its queries by subject. */
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
  /** By vector space: concurrent callers share one measurement and its error. */
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
