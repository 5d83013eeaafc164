/**
 * What some models were trained with: words before a text, and how its tokens' vectors become one. Hosted providers add it themselves when told the kind of text; servers of
 * open models do not, and without it these models find less. The table is by model name, however a server spells it.
 * Source: the models' own cards.
 */
import type { InputType } from './embedder.ts';

type Prefixes = Readonly<Record<InputType, string>>;

const none: Prefixes = { query: '', document: '' };
const passages = 'Represent this sentence for searching relevant passages: ';
const instruct = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\n';

/** The first that matches counts. */
const families: readonly (readonly [RegExp, Prefixes])[] = [
  [/nomic-embed/, { query: 'search_query: ', document: 'search_document: ' }],
  [/qwen3-embedding/, { query: `${instruct}Query:`, document: '' }],
  [/e5-(?:(?!e5-).)*instruct|e5-mistral/, { query: `${instruct}Query: `, document: '' }],
  [/(?:^|[/_-])e5-/, { query: 'query: ', document: 'passage: ' }],
  [/embedding-?gemma/, { query: 'task: search result | query: ', document: 'title: none | text: ' }],
  [/arctic-embed-?(?:[lm]-v2|2)/, { query: 'query: ', document: '' }],
  [/arctic-embed|mxbai-embed/, { query: passages, document: '' }],
  [/bge-(?:small|base|large)-en/, { query: passages, document: '' }],
];

export function prefixesOf(model: string): Prefixes {
  const name = model.toLowerCase();
  return families.find(([pattern]) => pattern.test(name))?.[1] ?? none;
}

/** Models whose first token stands for the text; others take the mean of all. Asked where a model runs here: servers know. */
const byFirstToken =
  /(?:^|[/_-])bge-|mxbai-embed|arctic-embed|gte-(?:base|large)-en-v1\.5|gte-(?:multilingual|modernbert)/;

export function poolingOf(model: string): 'cls' | 'mean' {
  return byFirstToken.test(model.toLowerCase()) ? 'cls' : 'mean';
}
