/** Suggestions while a query is typed. Entities and topics come from its best pages, so the cost is bounded. */
import { canonicalForm, pageCountOf, rootOf } from '../../commands/entity-trees.ts';
import { readOperators } from '../../compute/ranking/query-operators.ts';
import { foldAccents, isOfDictionary, isOfPairs } from '../../compute/text/scripts.ts';
import { type QuerySuggestion, type SuggestResponse, suggestionKinds } from '../../domain/search.ts';
import { idOf } from '../../domain/values.ts';
import type { StoreReader } from '../../store/store.ts';
import { uncountedTypes } from '../entities/shared-entities.ts';
import { inParts } from '../system/background.ts';
import type { LibraryParts } from '../system/service.ts';
import type { RankQuery } from './rank-query.ts';

interface SuggestDependencies extends Pick<LibraryParts, 'ask' | 'reader' | 'now'> {
  rank: RankQuery;
  /** Logged queries older than this are not suggested, ms. */
  keepQueriesMs: number;
}

const maxSuggestions = 8;
const maxPerKind = 3;
/** Max rows read: some 10 µs for a title, 100 µs for the entities of a page. */
const pagesWithTitle = 30;
const pagesWithTopic = 20;
const pagesWithEntities = 10;
/** Max logged queries in memory. */
const maxEarlier = 1000;
/** Longer queries were probably not typed. */
const maxEarlierLength = 100;
/** Rows read per turn of the event loop: some ms. */
const rowsPerTurn = 50;
/** Max matching queries whose rows are read. */
const maxExamined = 20;

type Suggest = (typed: string, signal: AbortSignal | undefined) => Promise<SuggestResponse>;

export function querySuggester({ ask, reader, rank, keepQueriesMs, now }: SuggestDependencies): Suggest {
  const earlier = earlierQueries(reader);

  const findPages = async (query: string, signal: AbortSignal | undefined): Promise<number[]> => {
    if (reader.models.activeId() === null) return [];
    const words = { query, operators: false, prefix: true, spelling: false };
    const order = { candidates: 50, rerank: false, rollup: 'max', rollup_m: 1, collapse: false } as const;
    const { pages } = await rank({ ...words, ...order }, { byWords: true, signal });
    return pages.map(({ page_no }) => page_no);
  };

  const domains = async (typed: string): Promise<QuerySuggestion[]> => {
    const beginning = /^(?:https?:\/\/)?(?:www\.)?([^\s/]+)\/?$/.exec(typed)?.[1];
    if (beginning === undefined) return [];
    const found = await ask('index.domains', { beginning, limit: maxPerKind });
    return found.map(({ domain, pages }) => ({ ...blank, kind: 'domain', text: domain, page_count: pages }));
  };

  const titles = (numbers: readonly number[], matches: Matcher): QuerySuggestion[] => {
    const suggestions = numbers.slice(0, pagesWithTitle).flatMap((no): QuerySuggestion[] => {
      const page = reader.pages.head(no);
      if (page?.title == null) return [];
      return [{ ...blank, kind: 'page', text: page.title, id: idOf('page', no), domain: page.domain }];
    });
    return bestFirst(suggestions, ({ text }) => matches(folded(text)));
  };

  const entities = (numbers: readonly number[], typed: string, matches: Matcher): QuerySuggestion[] => {
    const mentioned = numbers.slice(0, pagesWithEntities).flatMap((no) => reader.entities.ofPage(no) ?? []);
    const spelled = mentioned.filter(({ forms }) => forms.some(([form]) => matches(folded(form)) > 0));
    const named = new Set(spelled.map(({ no }) => no));
    const found = [...[...named].flatMap((no) => reader.entities.get(no) ?? []), ...reader.entities.named(typed)];
    const roots = new Map(found.map((entity) => rootOf(reader.entities, entity)).map((root) => [root.no, root]));
    const suggestions = [...roots.values()]
      .filter(({ type }) => !uncountedTypes.has(type))
      .map((root): QuerySuggestion => {
        const [text, id] = [canonicalForm(root), idOf('entity', root.no)];
        return { ...blank, kind: 'entity', text, id, page_count: pageCountOf(root) };
      });
    return bestFirst(suggestions, ({ page_count }) => page_count ?? 0);
  };

  const topics = (numbers: readonly number[], matches: Matcher): QuerySuggestion[] => {
    const clusters = numbers.slice(0, pagesWithTopic).flatMap((no) => reader.clusters.ofPage(no)?.cluster ?? []);
    const suggestions = [...new Map(clusters.map((cluster) => [cluster.no, cluster])).values()]
      .filter(({ tombstoned }) => !tombstoned)
      .map(({ no, label, size }): QuerySuggestion => {
        return { ...blank, kind: 'cluster', text: label ?? '', id: idOf('cluster', no), page_count: size };
      });
    return bestFirst(suggestions, ({ text }) => matches(folded(text)));
  };

  return async (given, signal) => {
    const typed = folded(given);
    const matches = matcherOf(typed);
    if (matches === null) return { suggestions: [] };
    const isPlain = readOperators(given).written.length === 0;
    const [queries, sites, numbers] = await Promise.all([
      earlier(typed, isPlain ? matches : null, now() - keepQueriesMs),
      isPlain ? domains(typed) : [],
      isPlain ? findPages(given, signal) : [],
    ]);
    signal?.throwIfAborted();
    const kinds = [
      queries.map((text): QuerySuggestion => ({ ...blank, kind: 'query', text })),
      titles(numbers, matches),
      sites,
      entities(numbers, typed, matches),
      topics(numbers, matches),
    ];
    const turns = Array.from({ length: maxPerKind }, (_, at) => kinds.flatMap((kind) => kind[at] ?? [])).flat();
    const kindOf = ({ kind }: QuerySuggestion) => suggestionKinds.indexOf(kind);
    return { suggestions: turns.slice(0, maxSuggestions).sort((a, b) => kindOf(a) - kindOf(b)) };
  };
}

const blank = { id: null, domain: null, page_count: null };

/** Leaves out items with score 0. */
const bestFirst = <Item>(items: readonly Item[], score: (item: Item) => number): Item[] =>
  items
    .map((item) => ({ item, score: score(item) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);

const folded = (text: string): string => foldAccents(text.toLowerCase()).replace(/\s+/gu, ' ').trim();

/** Rates a folded text. 2: begins with the typed text; 1: each typed word begins one of its words; 0: neither. */
type Matcher = (text: string) => number;

const words = /[\p{L}\p{M}\p{N}]+/gu;
const partOfWord = /[\p{L}\p{M}\p{N}]/u;

/** Null if nothing was typed. In scripts without spaces a word may be anywhere. */
function matcherOf(typed: string): Matcher | null {
  const wanted = typed.match(words);
  if (wanted === null) return null;
  const starts = wanted.map((word) => ({ word, isAnywhere: isOfPairs(word) || isOfDictionary(word) }));
  return (text) => {
    if (text.startsWith(typed)) return 2;
    const hasAll = starts.every(({ word, isAnywhere }) => {
      let at = text.indexOf(word);
      while (at > 0 && !isAnywhere && partOfWord.test(text[at - 1])) at = text.indexOf(word, at + 1);
      return at >= 0;
    });
    return hasAll ? 1 : 0;
  };
}

interface EarlierQuery {
  no: number;
  text: string;
  folded: string;
  isUnfinished: boolean;
}

/** Logged queries with results that are still stored. Leaves out queries that the next one continues. */
function earlierQueries(reader: StoreReader) {
  const { queryLog, pages } = reader;
  /** Oldest first. */
  const known: EarlierQuery[] = [];
  let readTo: number | undefined;
  const readNew = async () => {
    readTo ??= (queryLog.numbers({ kind: 'search', limit: maxEarlier }).at(-1) ?? 1) - 1;
    const numbersAfter = (after: number) => queryLog.numbersAfter(after, rowsPerTurn);
    for await (const numbers of inParts(numbersAfter, Number, { after: readTo })) {
      readTo = numbers.at(-1);
      for (const no of numbers) {
        const run = queryLog.get(no);
        if (run?.kind !== 'search' || run.final_pages.length === 0) continue;
        const text = run.query_text.trim();
        const isUnfinished = run.params.prefix === true;
        if (text.length <= maxEarlierLength) known.push({ no, text, folded: folded(text), isUnfinished });
      }
    }
    known.splice(0, known.length - maxEarlier);
  };
  let reading: Promise<void> | undefined;

  const isStored = (no: number, since: number) => {
    const run = queryLog.get(no);
    return run !== undefined && run.ts >= since && run.final_pages.some(({ page_no }) => pages.has(page_no));
  };

  /** Best first, then newest first. Without a matcher: queries that begin with the typed text. */
  return async (typed: string, matches: Matcher | null, since: number): Promise<string[]> => {
    reading ??= readNew().finally(() => {
      reading = undefined;
    });
    await reading;
    const distinct = new Map<string, EarlierQuery>();
    for (let at = known.length - 1; at >= 0; at--) {
      const query = known[at];
      const isContinued = query.isUnfinished && known[at + 1]?.folded.startsWith(query.folded) === true;
      if (!isContinued && query.folded !== typed && !distinct.has(query.folded)) distinct.set(query.folded, query);
    }
    const byStart: Matcher = (text) => Number(text.startsWith(typed));
    return bestFirst([...distinct.values()], (query) => (matches ?? byStart)(query.folded))
      .slice(0, maxExamined)
      .filter(({ no }) => isStored(no, since))
      .slice(0, maxPerKind)
      .map(({ text }) => text);
  };
}
