import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefixesOf } from '../../src/providers/model-prefixes.ts';

const passages = 'Represent this sentence for searching relevant passages: ';
const task = 'Instruct: Given a web search query, retrieve relevant passages that answer the query\n';

/** Names as different servers spell them, and what goes before a query and before a document. */
const known: [string, string, string][] = [
  ['nomic-embed-text', 'search_query: ', 'search_document: '],
  ['nomic-ai/nomic-embed-text-v1.5', 'search_query: ', 'search_document: '],
  ['intfloat/multilingual-e5-large', 'query: ', 'passage: '],
  ['e5-small-v2', 'query: ', 'passage: '],
  ['intfloat/multilingual-e5-large-instruct', `${task}Query: `, ''],
  ['Qwen/Qwen3-Embedding-0.6B', `${task}Query:`, ''],
  ['mixedbread-ai/mxbai-embed-large-v1', passages, ''],
  ['BAAI/bge-small-en-v1.5', passages, ''],
  ['bge-m3', '', ''],
  ['snowflake-arctic-embed:335m', passages, ''],
  ['Snowflake/snowflake-arctic-embed-l-v2.0', 'query: ', ''],
  ['snowflake-arctic-embed2', 'query: ', ''],
  ['embeddinggemma:300m', 'task: search result | query: ', 'title: none | text: '],
  ['text-embedding-3-small', '', ''],
  ['all-minilm', '', ''],
];

for (const [model, query, document] of known) {
  test(`${model} gets ${JSON.stringify(query)} and ${JSON.stringify(document)}`, () => {
    assert.deepEqual(prefixesOf(model), { query, document });
  });
}
