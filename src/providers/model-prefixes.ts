/** Prefixes that models were trained with: servers of open models do not add them. Source: the models' own cards. */
export type InputType = 'query' | 'document';
type Prefixes = Readonly<Record<InputType, string>>;

const none: Prefixes = { query: '', document: '' };
const passages = 'Represent this sentence for searching relevant passages: ';
const instruct = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\n';

/** The first match counts. */
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
