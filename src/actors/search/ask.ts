/** Answers questions from read pages: by quoted sentences, a list of pages, or a language model. Stateless. */
import pLimit from 'p-limit';
import { embeddingText } from '../../compute/embedding/embedding-text.ts';
import { type ListQuestion, readListQuestion } from '../../compute/ranking/list-questions.ts';
import { readOperators } from '../../compute/ranking/query-operators.ts';
import { visitTimes } from '../../compute/structures/visit-times.ts';
import { unlessAborted } from '../../compute/unless-aborted.ts';
import { isPageUnder } from '../../compute/web/domain-match.ts';
import { textFragmentLink } from '../../compute/web/text-fragment.ts';
import {
  type AskEvent,
  type AskRequest,
  type AskResponse,
  type Generated,
  maxQuestion,
  type Quote,
  type Sent,
} from '../../domain/ask.ts';
import { DomainError } from '../../domain/errors.ts';
import { builtInModel } from '../../domain/model.ts';
import { type PageResult, type SearchRequest, type SearchResponse, searchRequest } from '../../domain/search.ts';
import { isoOf, numberOf } from '../../domain/values.ts';
import { inReadingOrder, isAnswer, likelySentences, scoredSentences } from '../../engine/answer-sentences.ts';
import type { Span } from '../../engine/highlight.ts';
import { likelyRelevant } from '../../engine/relevance.ts';
import type { ChatClient } from '../../providers/chat-client.ts';
import type { Embedders } from '../../providers/embedders.ts';
import { BreakerOpenError, ProviderError } from '../../providers/resilient-call.ts';
import type { LibraryParts } from '../system/service.ts';
import { completeQuestion, generateAnswer } from './generate-answer.ts';
import { earliest, latest } from './rank-query.ts';

export interface AskDependencies extends Pick<LibraryParts, 'reader' | 'now' | 'monotonic'> {
  embedders: Pick<Embedders, 'queryVector' | 'passages'>;
  /** Time limit for comparing sentences, ms; the rest is left out. */
  compareMs: number;
  chat: ChatClient | null;
  llm: { exclude: readonly string[]; max_input_tokens: number; timeout_s: number };
}

type Search = (request: SearchRequest, signal: AbortSignal | undefined) => Promise<SearchResponse>;
type Report = (event: AskEvent) => void;

/** Searched pages, passages per page, and passages whose sentences are compared or sent to a model. */
const searchedPages = 6;
const passagesPerPage = 3;
export const comparedPassages = 5;
const sentPassages = 8;
const comparedAtOnce = 6;
const maxListedPages = 20;
const maxListedVisits = 10;
/** Max questions that are with a model, and that wait for it. */
const generatedAtOnce = 2;
const maxWaiting = 8;
/** The encoder does not split queries, so the limit is not used. */
const encoderModel = { ...builtInModel, max_input_tokens: 512 };
/** Max words of a short question. */
const shortQuestion = 6;

const defaults: SearchRequest = {
  ...searchRequest.parse({ query: '-' }),
  // An outside reranker gets no passages here: sentences are compared below.
  ...{ suggest: 0, log: false, rerank: false, k: searchedPages, chunks_per_page: passagesPerPage },
};

interface Passage {
  page: PageResult;
  chunk: PageResult['chunks'][number];
}

/** Relevance of the best page; null if unknown, as with an outside model. */
function bestRelevance(results: readonly PageResult[]): number | null {
  const measured = results.flatMap(({ relevance }) => relevance ?? []);
  return measured.length === 0 ? null : Math.max(...measured);
}

interface Found {
  question: string;
  quotes: Quote[];
  passages: Passage[];
  no_results: SearchResponse['no_results'];
}

/** Errors: those of a search; DomainError `conflict` without a language model, `overloaded`; the signal's reason. */
export function questionAnswerer(
  search: Search,
  { reader, embedders, compareMs, chat, llm, now, monotonic }: AskDependencies,
) {
  const inTurn = pLimit(generatedAtOnce);
  const waiting = new Set<object>();

  const headOf = ({ page_id }: PageResult) => reader.pages.head(numberOf('page', page_id) ?? 0);
  const factsOf = (page: PageResult) => {
    const { page_id, title, canonical_url, domain, first_seen_at } = page;
    const head = headOf(page);
    const last_seen_at = head === undefined ? first_seen_at : isoOf(head.last_seen_at);
    return { page_id, title, canonical_url, domain, first_seen_at, last_seen_at };
  };

  const quoteOf = ({ page, chunk }: Passage, { start, end }: Span, number: number, best: boolean): Quote => ({
    number,
    ...factsOf(page),
    chunk_id: chunk.chunk_id,
    char_start: chunk.char_start + start,
    char_end: chunk.char_start + end,
    text: chunk.text.slice(start, end),
    link: textFragmentLink(page.canonical_url, chunk.text, { start, end }),
    best,
  });

  /** Cosines of the question with the first texts, as many as are computed in time. */
  const cosinesOf = async (question: string, all: readonly string[], signal: AbortSignal | undefined) => {
    const cosines: number[] = [];
    const endsAt = monotonic() + compareMs;
    const late = AbortSignal.timeout(compareMs);
    const stop = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      const vector = await embedders.queryVector(encoderModel, question, { signal, deadlineMs: compareMs });
      if (vector === null) return cosines;
      while (cosines.length < all.length && monotonic() < endsAt) {
        const texts = all.slice(cosines.length, cosines.length + comparedAtOnce);
        const { rows } = await embedders.passages(texts, stop, 'sentence');
        for (const at of texts.keys()) cosines.push(dot(vector, rows, at));
      }
    } catch (error) {
      signal?.throwIfAborted();
      const isExpected = error instanceof ProviderError || error instanceof BreakerOpenError || late.aborted;
      if (!isExpected) throw error;
    }
    return cosines;
  };

  const findQuotes = async (
    question: string,
    { filters, operators, tz, sentences: most }: AskRequest,
    signal: AbortSignal | undefined,
  ): Promise<Found> => {
    const asked = { ...defaults, query: question, filters, operators, ...(tz === undefined ? {} : { tz }) };
    const { results, no_results } = await search(asked, signal);
    const passages = results
      .flatMap((page) => page.chunks.map((chunk): Passage => ({ page, chunk })))
      .sort((a, b) => b.chunk.score - a.chunk.score);
    const compared = passages.slice(0, comparedPassages).map(({ page, chunk }) => ({
      ...{ ...chunk, page: page.page_id, title: page.title },
    }));
    const words = operators ? readOperators(question).text : question;
    const likely = likelySentences(words, compared);
    // A sentence alone rarely names its subject.
    const texts = likely.map(({ passage, text }) => embeddingText(passages[passage].page.title, null, text));
    const cosines = await cosinesOf(words, texts, signal);
    const isFound = isAnswer(cosines, bestRelevance(results));
    const best = isFound ? scoredSentences(likely, cosines).slice(0, most) : [];
    const quotes = inReadingOrder(best, compared).map((each, at) =>
      quoteOf(passages[each.passage], each, at + 1, each === best[0]),
    );
    const quoted = new Set(quotes.map(({ page_id }) => page_id));
    const related = passages.filter(({ page }) => quoted.has(page.page_id) || (page.relevance ?? 1) >= likelyRelevant);
    // If pages were found but none answers, explain the empty answer as if no page had been found.
    const isReason = quotes.length > 0 || results.length === 0;
    const nothing = isReason
      ? no_results
      : (await search({ ...asked, min_relevance: likelyRelevant }, signal)).no_results;
    return { question, quotes, passages: related, no_results: nothing };
  };

  const listPages = async (
    { topic, after, before }: ListQuestion,
    { filters, operators, tz }: AskRequest,
    signal: AbortSignal | undefined,
  ) => {
    const [from, to] = [after, before].map(isoOrNull);
    const times = [from === null ? [] : `after:${from}`, to === null ? [] : `before:${to}`].flat();
    const within = {
      after: isoOrNull(latest(msOf(filters?.after), after)),
      before: isoOrNull(earliest(msOf(filters?.before), before)),
    };
    const about =
      topic === ''
        ? { query: times.join(' '), operators: true, sort: 'newest' as const, filters }
        : { query: topic, operators, min_relevance: likelyRelevant, filters: { ...filters, ...within } };
    const zone = tz === undefined ? {} : { tz };
    const asked = { ...defaults, ...about, ...zone, k: maxListedPages, chunks_per_page: 1 };
    const { results, no_results } = await search(asked, signal);
    const isWithin = (at: number) => (after === null || at >= after) && (before === null || at < before);
    const pages = results.map((page) => {
      const head = headOf(page);
      const visits = head === undefined ? [] : visitTimes(head).filter(isWithin);
      return {
        ...{ ...factsOf(page), visit_count: page.visit_count },
        visited_at: visits.slice(0, maxListedVisits).map(isoOf),
        link: (topic === '' ? undefined : page.chunks[0]?.link) ?? page.canonical_url,
      };
    });
    pages.sort((a, b) => (b.visited_at[0] ?? '').localeCompare(a.visited_at[0] ?? ''));
    return { pages, no_results, period: times.length === 0 ? null : { after: from, before: to } };
  };

  /** The passages that fit the token limit, without excluded pages. */
  const toSend = (passages: readonly Passage[], { place }: ChatClient): { sent: Sent; allowed: Passage[] } => {
    const isExcluded = ({ page }: Passage) => isPageUnder(page, llm.exclude);
    const allowed: Passage[] = [];
    let tokens = 0;
    for (const each of passages.filter((each) => !isExcluded(each)).slice(0, sentPassages)) {
      const more = tokensIn(each.chunk.text);
      if (tokens + more > llm.max_input_tokens) continue;
      tokens += more;
      allowed.push(each);
    }
    const excluded_pages = new Set(passages.filter(isExcluded).map(({ page }) => page.page_id)).size;
    const parts = allowed.map(({ page: { page_id, title, canonical_url }, chunk: { chunk_id, text } }, at) => ({
      ...{ number: at + 1, page_id, title, canonical_url, chunk_id, text },
    }));
    return { sent: { ...place, passages: parts, excluded_pages, tokens, max_tokens: llm.max_input_tokens }, allowed };
  };

  const generate = async (
    client: ChatClient,
    question: string,
    allowed: readonly Passage[],
    { report, stop }: { report: Report; stop: AbortSignal },
  ): Promise<Generated> => {
    const quotations: Quote[] = [];
    const sentences: Generated['sentences'] = [];
    const passages = allowed.map(({ page, chunk }) => ({
      ...{ title: page.title, read_at: page.first_seen_at, text: chunk.text },
    }));
    const take = ({ text, quotations: cited }: { text: string; quotations: (Span & { passage: number })[] }) => {
      const numbered = cited.map(({ passage, ...span }) => {
        const quote = quoteOf(allowed[passage], span, quotations.length + 1, false);
        const known = quotations.find((each) => each.char_start === quote.char_start && each.link === quote.link);
        if (known === undefined) quotations.push(quote);
        return known ?? quote;
      });
      sentences.push({ text, quotations: numbered.map(({ number }) => number) });
      report({ event: 'sentence', data: { text, quotations: numbered } });
    };
    const options = { take, signal: stop, deadlineMs: llm.timeout_s * 1000 };
    return { ...(await generateAnswer(client, question, passages, options)), sentences, quotations };
  };

  return async (
    { report = () => {}, ...request }: AskRequest & { report?: Report },
    signal: AbortSignal | undefined,
    ending: AbortSignal,
  ): Promise<AskResponse> => {
    const began = monotonic();
    const { turns, tz = 'UTC', preview } = request;
    const client = request.use_model ? chat : null;
    if (request.use_model && client === null) throw new DomainError('conflict', 'no language model is configured');
    if (client !== null && !preview && waiting.size >= maxWaiting)
      throw new DomainError('overloaded', 'too many questions are waiting for the language model', { retryAfterS: 5 });
    const stop = signal === undefined ? ending : AbortSignal.any([signal, ending]);
    /** Runs work with the language model in this request's turn. An aborted request stops waiting. */
    const whenFree = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      const place = {};
      waiting.add(place);
      try {
        const turn = inTurn(() => {
          waiting.delete(place);
          stop.throwIfAborted();
          return run();
        });
        return await unlessAborted(turn, stop);
      } catch (error) {
        if (!ending.aborted) throw error;
        throw new DomainError('shutting_down', 'the service is stopping', { cause: error });
      } finally {
        waiting.delete(place);
      }
    };
    const completed =
      client === null || preview || turns.length === 0
        ? null
        : await whenFree(() => completeQuestion(client, request, stop));
    const question = completed ?? request.question;
    const list = readListQuestion(question, { now: now(), zone: tz });
    const listed = list === null ? null : await listPages(list, request, signal);
    let found: Found | null = null;
    for (const each of listed === null ? wordings(question, completed === null ? turns : []) : [])
      if (found === null || found.quotes.length === 0) found = await findQuotes(each, request, signal);
    const quotes = found?.quotes ?? [];
    const pages = listed?.pages ?? [];
    const known = monotonic();
    const outgoing = client === null || found === null || quotes.length === 0 ? null : toSend(found.passages, client);
    const answer: AskResponse = {
      kind: pages.length > 0 ? 'pages' : quotes.length > 0 ? 'quotes' : 'none',
      question: quotes.length > 0 ? (found?.question ?? question) : question,
      quotes,
      pages,
      period: listed?.period ?? null,
      no_results: pages.length + quotes.length > 0 ? null : ((listed ?? found)?.no_results ?? null),
      language_model: chat?.place ?? null,
      sent: outgoing?.sent ?? null,
      generated: null,
      timing_ms: { found: Math.round(known - began) },
    };
    report({ event: 'quotes', data: answer });
    const allowed = outgoing?.allowed ?? [];
    if (client === null || preview || allowed.length === 0) return answer;
    const generated = await whenFree(() => generate(client, answer.question, allowed, { report, stop }));
    return { ...answer, generated, timing_ms: { ...answer.timing_ms, generated: Math.round(monotonic() - known) } };
  };
}

/** A follow-up question alone, and together with the question before it, as a short one rarely names its subject. */
function wordings(question: string, turns: AskRequest['turns']): string[] {
  const earlier = turns.at(-1)?.question;
  if (earlier === undefined) return [question];
  const joined = `${earlier} ${question}`.slice(-maxQuestion);
  return question.split(/\s+/).length <= shortQuestion ? [joined, question] : [question, joined];
}

const msOf = (iso: string | null | undefined) => (iso == null ? null : Date.parse(iso));
const isoOrNull = (ms: number | null) => (ms === null ? null : isoOf(ms));

/** Estimate: one token per four bytes, in any script. */
const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

function dot(vector: Float32Array, rows: Float32Array, row: number): number {
  return vector.reduce((sum, each, i) => sum + each * rows[row * vector.length + i], 0);
}
