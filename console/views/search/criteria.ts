/** The search criteria, in the address and in requests. */
import type { PageState, PageType } from '../../../src/domain/query-clause.ts';
import type { SearchFilters, SearchSort } from '../../../src/domain/search.ts';
import { linkTo } from '../../app/router.ts';

export interface Criteria {
  query: string;
  /** `as-written`: no spelling correction. */
  spelling: 'as-written' | null;
  site: string | null;
  topic: string | null;
  /** The topic's name, for display. */
  topicName: string | null;
  name: string | null;
  /** The name, for display if the filter is an id. */
  nameText: string | null;
  lang: string | null;
  type: PageType | null;
  tag: string | null;
  folder: string | null;
  source: string | null;
  is: PageState | null;
  /** Null: by relevance. */
  sort: SearchSort | null;
  /** Days, `YYYY-MM-DD`, inclusive. */
  from: string | null;
  to: string | null;
}

const keys = {
  query: 'q',
  spelling: 'spelling',
  site: 'site',
  topic: 'topic',
  topicName: 'topic-name',
  name: 'name',
  nameText: 'name-text',
  lang: 'lang',
  type: 'type',
  tag: 'tag',
  folder: 'folder',
  source: 'source',
  is: 'is',
  sort: 'sort',
  from: 'from',
  to: 'to',
} as const;
export const sortNames: Readonly<Record<SearchSort, string>> = {
  relevance: 'Relevance',
  newest: 'Newest',
  oldest: 'Oldest',
  most_visited: 'Most visited',
};
export const typeNames: Readonly<Record<PageType, string>> = {
  html: 'Web page',
  pdf: 'PDF',
  video: 'Video',
  audio: 'Audio',
  feed: 'Feed item',
};
export const stateNames: Readonly<Record<PageState, string>> = {
  starred: 'Starred',
  archived: 'Archived',
  unread: 'Unread',
  read: 'Read',
};
const keyIn = <Key extends string>(names: Readonly<Record<Key, string>>, text: string | null): Key | null =>
  text !== null && Object.hasOwn(names, text) ? (text as Key) : null;
/** The service's maximum query length. */
export const maxLetters = 4000;
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** The period of an address; invalid days are dropped. */
export function periodIn(params: URLSearchParams): Pick<Criteria, 'from' | 'to'> {
  const [from, to] = [keys.from, keys.to].map((name) => {
    const text = params.get(name) ?? '';
    return dayPattern.test(text) && dayOf(startOf(text)) === text ? text : null;
  });
  return { from, to };
}

/** Earlier day first; typing may reverse them. */
export const inOrder = ({ from, to }: Pick<Criteria, 'from' | 'to'>): Pick<Criteria, 'from' | 'to'> =>
  from !== null && to !== null && from > to ? { from: to, to: from } : { from, to };

export function criteriaOf(params: URLSearchParams): Criteria {
  return {
    query: (params.get(keys.query) ?? '').slice(0, maxLetters),
    spelling: params.get(keys.spelling) === 'as-written' ? 'as-written' : null,
    site: params.get(keys.site),
    topic: params.get(keys.topic),
    topicName: params.get(keys.topicName),
    name: params.get(keys.name),
    nameText: params.get(keys.nameText),
    lang: /^[a-z]{2}$/.exec(params.get(keys.lang) ?? '')?.[0] ?? null,
    type: keyIn(typeNames, params.get(keys.type)),
    tag: params.get(keys.tag),
    folder: params.get(keys.folder),
    source: params.get(keys.source),
    is: keyIn(stateNames, params.get(keys.is)),
    sort: keyIn(sortNames, params.get(keys.sort)),
    ...periodIn(params),
  };
}

/** A link to the results, or to another view. */
export function linkOf(criteria: Criteria, view = 'search'): string {
  return linkTo(
    view,
    '',
    Object.fromEntries(Object.entries(keys).map(([field, key]) => [key, criteria[field as keyof Criteria]])),
  );
}

export const filterless: Omit<Criteria, 'query' | 'spelling' | 'sort'> = {
  site: null,
  topic: null,
  topicName: null,
  name: null,
  nameText: null,
  lang: null,
  type: null,
  tag: null,
  folder: null,
  source: null,
  is: null,
  from: null,
  to: null,
};

export const isFiltered = ({ query: _query, spelling: _spelling, sort: _sort, ...filters }: Criteria): boolean =>
  Object.values(filters).some((value) => value !== null);

/** The start of a local day. */
export const startOf = (day: string): Date => new Date(`${day}T00:00:00`);
const dayAfter = (day: string): Date => {
  const date = startOf(day);
  date.setDate(date.getDate() + 1);
  return date;
};
export function dayOf(date: Date): string {
  const part = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`;
}

export function filtersOf(criteria: Criteria): SearchFilters | null {
  const { site, topic, name, lang, type, tag, folder, source, is, ...period } = criteria;
  const { from, to } = inOrder(period);
  const filters: SearchFilters = {
    ...(site !== null && { domain: site }),
    ...(topic !== null && { cluster_id: topic }),
    ...(name !== null && { entity: name }),
    ...(lang !== null && { lang }),
    ...(type !== null && { type }),
    ...(tag !== null && { tag }),
    ...(folder !== null && { folder }),
    ...(source !== null && { source }),
    ...(is !== null && { is }),
    ...(from !== null && { after: startOf(from).toISOString() }),
    ...(to !== null && { before: dayAfter(to).toISOString() }),
  };
  return Object.keys(filters).length === 0 ? null : filters;
}
