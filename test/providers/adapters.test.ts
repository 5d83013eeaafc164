import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addressOf } from '../../src/providers/http-json.ts';
import { endpointOf } from '../../src/providers/provider-settings.ts';
import { deferred } from '../deferred.ts';
import { callsTo, dim } from './calls-to.ts';
import { type Fault, startFakeProvider, vectorOf } from './fake-provider-server.ts';

const server = await startFakeProvider({ after }, { dim });

const rows = (vectors: Float32Array) =>
  Array.from({ length: vectors.length / dim }, (_, at) => vectors.subarray(at * dim, (at + 1) * dim));

function assertNear(actual: Float32Array, texts: string[]): void {
  assert.equal(actual.length, texts.length * dim);
  for (const [at, row] of rows(actual).entries()) {
    const expected = vectorOf(texts[at], dim);
    for (const [i, value] of row.entries()) assert.ok(Math.abs(value - expected[i]) < 1e-6, `row ${at}`);
  }
}

const lastCall = () => server.calls[server.calls.length - 1];

test('an OpenAI-compatible server’s rows come in the order of the texts, whatever order it answers in', async () => {
  server.faultOf = () => undefined;
  const texts = ['one', 'two', 'three'];
  const { embedder } = callsTo(server, { model: 'text-embedding-3-small', path: '/some/prefix/v1/' });
  assertNear(await embedder.embed(texts, 'document'), texts);
  const { path, body } = lastCall();
  const sent = { model: 'text-embedding-3-small', input: texts, encoding_format: 'base64', dimensions: dim };
  assert.deepEqual([path, body], ['/some/prefix/v1/embeddings', sent]);
});

test('a server that ignores the encoding and the indexes is understood all the same', async () => {
  server.faultOf = () => ({
    kind: 'tamper',
    change: () => ({ data: ['a', 'b'].map((text) => ({ embedding: [...vectorOf(text, dim)] })) }),
  });
  assertNear(await callsTo(server).embedder.embed(['a', 'b'], 'query'), ['a', 'b']);
});

test('Voyage and Cohere are told whether a text is asked for or searched', async () => {
  server.faultOf = () => undefined;
  const voyage = callsTo(server, { provider: 'voyage', model: 'voyage-3.5' });
  assertNear(await voyage.embedder.embed(['x', 'y'], 'query'), ['x', 'y']);
  assert.deepEqual(lastCall().body, {
    ...{ model: 'voyage-3.5', input: ['x', 'y'], input_type: 'query', truncation: true },
    ...{ encoding_format: 'base64', output_dimension: dim },
  });
  const cohere = callsTo(server, { provider: 'cohere', model: 'embed-english-v3.0', path: '/v2' });
  assertNear(await cohere.embedder.embed(['x', 'y'], 'document'), ['x', 'y']);
  const { path, body } = lastCall();
  const told = { input_type: 'search_document', embedding_types: ['float'], truncate: 'END' };
  assert.deepEqual([path, body], ['/v2/embed', { model: 'embed-english-v3.0', texts: ['x', 'y'], ...told }]);
});

test('Jina is told what a text is, by its own field, where a model knows the difference', async () => {
  const jina = callsTo(server, { provider: 'jina', model: 'jina-embeddings-v3' });
  assertNear(await jina.embedder.embed(['x', 'y'], 'query'), ['x', 'y']);
  const { body } = lastCall();
  assert.deepEqual(body, {
    ...{ model: 'jina-embeddings-v3', input: ['x', 'y'], embedding_type: 'float' },
    ...{ task: 'retrieval.query', dimensions: dim, truncate: true },
  });
  await jina.embedder.embed(['x'], 'document');
  assert.equal(lastCall().body.task, 'retrieval.passage');
  await callsTo(server, { provider: 'jina', model: 'jina-embeddings-v2-base-en' }).embedder.embed(['x'], 'query');
  assert.deepEqual(lastCall().body, { model: 'jina-embeddings-v2-base-en', input: ['x'], embedding_type: 'float' });
});

test('models that want a prefix get it from us at an OpenAI-compatible server', async () => {
  const { embedder } = callsTo(server, { model: 'nomic-embed-text:v1.5' });
  await embedder.embed(['cats'], 'query');
  assert.deepEqual(lastCall().body.input, ['search_query: cats']);
  await embedder.embed(['cats'], 'document');
  assert.deepEqual(lastCall().body.input, ['search_document: cats']);
});

test('many texts go out in batches and come back as one', async () => {
  const texts = Array.from({ length: 70 }, (_, i) => `text number ${i}`);
  const earlier = server.calls.length;
  assertNear(await callsTo(server).embedder.embed(texts, 'document'), texts);
  const sizes = server.calls.slice(earlier).map(({ body }) => (body.input as string[]).length);
  assert.deepEqual(sizes, [32, 32, 6]);
  assert.equal((await callsTo(server).embedder.embed([], 'document')).length, 0);
  assert.equal(server.calls.length, earlier + 3, 'no texts, no call');
});

test('half a surrogate pair reaches the provider as a character that exists', async () => {
  await callsTo(server).embedder.embed(['broken \ud83d text'], 'query');
  assert.deepEqual(lastCall().body.input, ['broken \ufffd text']);
});

/** Check C22: what an index must never be given. Each changes the right answer to three texts. */
interface OpenAiAnswer {
  data: { index: number; embedding: unknown }[];
}
type Row = OpenAiAnswer['data'][number];
const editAll =
  (change: (row: Row) => Row) =>
  ({ data }: OpenAiAnswer) => ({ data: data.map(change) });
const edit = (change: (row: number[]) => unknown) =>
  editAll((each) => (each.index === 1 ? { ...each, embedding: change([...vectorOf('b', dim)]) } : each));
const packed = (row: number[]) => Buffer.from(Float32Array.from(row).buffer).toString('base64');
const another = { index: 3, embedding: packed([...vectorOf('d', dim)]) };
const badAnswers: [string, (answer: OpenAiAnswer) => unknown, RegExp][] = [
  ['NaN', edit((row) => packed(row.with(3, Number.NaN))), /row 1: nan/],
  ['Infinity', edit((row) => packed(row.with(3, Number.POSITIVE_INFINITY))), /row 1: infinite/],
  ['a number past the range of a float', edit((row) => row.with(3, 1e39)), /row 1: infinite/],
  ['a zero vector', edit((row) => row.map(() => 0)), /row 1: zero/],
  ['numbers that vanish as floats', edit((row) => row.map(() => 1e-60)), /row 1: zero/],
  ['a row that is too short', edit((row) => row.slice(1)), /row 1: length 15 instead of 16/],
  ['a row that is too long', edit((row) => [...row, 1]), /row 1: length 17 instead of 16/],
  ['packed bytes that are too few', edit((row) => packed(row.slice(1))), /row 1: length 15 instead of 16/],
  ['numbers as texts', edit((row) => row.map(String)), /row 1: not a number/],
  ['null among numbers', edit((row) => [null, ...row.slice(1)]), /row 1: not a number/],
  ['null for a row', edit(() => null), /row 1: not a vector/],
  ['rows of another dimension', editAll((each) => ({ ...each, embedding: [1, 2] })), /length 2 instead of 16/],
  ['fewer rows', ({ data }) => ({ data: data.filter(({ index }) => index < 2) }), /2 rows instead of 3/],
  ['more rows', ({ data }) => ({ data: [...data, another] }), /4 rows instead of 3/],
  ['a row twice', editAll((each) => ({ ...each, index: Math.min(each.index, 1) })), /not an embedding answer/],
  ['a row at no place', editAll((each) => ({ ...each, index: each.index + 1 })), /not an embedding answer/],
  ['no rows', () => ({ object: 'list' }), /not an embedding answer/],
  ['null', () => null, /not an embedding answer/],
];

for (const [name, change, message] of badAnswers) {
  test(`an embedding answer with ${name} is refused whole, at once, and not held against the provider`, async () => {
    server.faultOf = () => ({ kind: 'tamper', change });
    const earlier = server.calls.length;
    const calls = callsTo(server, { attempts: 3, failureThreshold: 1 });
    await assert.rejects(calls.embedder.embed(['a', 'b', 'c'], 'document'), { code: 'bad_answer', message });
    assert.equal(server.calls.length, earlier + 1);
    assert.equal(calls.breaker(), 'closed');
    server.faultOf = () => undefined;
  });
}

test('rows are made unit length, however long the provider’s are', async () => {
  for (const scale of [1e-30, 7, 1e30]) {
    server.faultOf = () => ({ kind: 'tamper', change: edit((row) => row.map((value) => value * scale)) });
    assertNear(await callsTo(server).embedder.embed(['a', 'b', 'c'], 'document'), ['a', 'b', 'c']);
  }
  server.faultOf = () => undefined;
});

const candidates = ['the weather in Spain', 'how cats purr when they are content', 'tax law', 'purring of cats'];

for (const provider of ['cohere', 'voyage', 'jina', 'tei']) {
  test(`${provider} gives each text its score, in the order of the texts`, async () => {
    const { reranker } = callsTo(server, { provider, model: 'rerank-x' });
    const scores = await reranker.rerank('why cats purr', candidates);
    const best = scores.indexOf(Math.max(...scores));
    assert.equal(scores.length, 4);
    assert.ok(best === 1 || best === 3, `${scores}`);
    const sent = {
      cohere: { model: 'rerank-x', query: 'why cats purr', documents: candidates, top_n: 4 },
      jina: { model: 'rerank-x', query: 'why cats purr', documents: candidates, top_n: 4, return_documents: false },
      voyage: { model: 'rerank-x', query: 'why cats purr', documents: candidates, top_k: 4, truncation: true },
      tei: { query: 'why cats purr', texts: candidates, truncate: true },
    };
    assert.deepEqual(lastCall().body, sent[provider as keyof typeof sent]);
  });
}

test('Text Embeddings Inference is asked for at most 32 texts at a time', async () => {
  const texts = Array.from({ length: 40 }, (_, i) => `text ${i}`);
  const whole = await callsTo(server, { provider: 'jina' }).reranker.rerank('text 39', texts);
  const earlier = server.calls.length;
  const parts = await callsTo(server, { provider: 'tei' }).reranker.rerank('text 39', texts);
  assert.deepEqual(parts, whole);
  assert.equal(server.calls.length - earlier, 2);
});

const entries = [
  { index: 1, relevance_score: 0.5 },
  { index: 0, relevance_score: 0.25 },
];
const badScores: [string, unknown, RegExp][] = [
  ['a score missing', { results: entries.slice(1) }, /1 instead of 2/],
  ['a score twice', { results: [entries[0], entries[0]] }, /wrong or repeated/],
  ['an index out of range', { data: [entries[0], { index: 2, relevance_score: 1 }] }, /wrong or repeated/],
  ['an entry without a score', [entries[0], { index: 0 }], /without a score/],
  ['a score that is a text', { results: [entries[0], { index: 0, relevance_score: '1' }] }, /not a rerank answer/],
  ['an endless score', '{"results": [{"index": 0, "relevance_score": 1e999}]}', /not a rerank answer/],
  ['nothing', {}, /not a rerank answer/],
];
for (const [name, answer, message] of badScores) {
  test(`a rerank answer with ${name} is refused`, async () => {
    server.faultOf = () => ({ kind: 'tamper', change: () => answer });
    const { reranker } = callsTo(server, { provider: 'cohere' });
    await assert.rejects(reranker.rerank('q', ['a', 'b']), { code: 'bad_answer', message });
    server.faultOf = () => undefined;
  });
}

test('a chat gives the model’s text, and no text is an error', async () => {
  const { chat } = callsTo(server, { model: 'small' });
  assert.equal(await chat.complete([{ role: 'user', content: 'ca\u200bts\u{e0041}' }]), 'About cats');
  assert.deepEqual(lastCall().body.messages, [{ role: 'user', content: 'cats' }]);
  assert.deepEqual(lastCall().body, { model: 'small', messages: [{ role: 'user', content: 'cats' }] });
  const empty = [' ', null].map((content) => ({ choices: [{ message: { content } }] }));
  for (const answer of [{ choices: [] }, ...empty]) {
    server.faultOf = () => ({ kind: 'tamper', change: () => answer });
    await assert.rejects(chat.complete([{ role: 'user', content: 'cats' }]), { code: 'bad_answer' });
  }
  server.faultOf = () => undefined;
});

test('a chat streams its text, whole characters only, and an error in it or a break is one', async () => {
  const { chat } = callsTo(server, { model: 'small', attempts: 2 });
  let heard = () => {};
  const streamed = async (fault?: Fault, most = Number.POSITIVE_INFINITY) => {
    server.faultOf = () => fault;
    const pieces: string[] = [];
    const take = (piece: string) => {
      heard();
      return pieces.push(piece) < most;
    };
    const error = await chat.stream([{ role: 'user', content: 'naïve 鷺 cats' }], take).then(
      () => null,
      ({ code }) => code,
    );
    return [pieces.join(''), error];
  };
  assert.deepEqual(await streamed(), ['About naïve 鷺 cats', null]);
  const messages = [{ role: 'user', content: 'naïve 鷺 cats' }];
  assert.deepEqual(lastCall().body, { model: 'small', messages, stream: true });
  assert.deepEqual(await streamed(undefined, 1), ['About n', null]);
  const calls = server.calls.length;
  for (const [answer, text, error] of [
    [{ choices: [{ message: { content: 'whole' } }] }, 'whole', null],
    [{ choices: [] }, '', null],
    [{ error: { message: 'no' } }, '', 'bad_answer'],
  ] as const)
    assert.deepEqual(await streamed({ kind: 'tamper', change: () => answer }), [text, error]);
  assert.equal(server.calls.length, calls + 3);
  assert.deepEqual(await streamed({ kind: 'status', status: 500 }), ['', 'failing']);
  assert.equal(server.calls.length, calls + 5, 'tried again before the first piece');
  server.faultOf = () => undefined;
  const isHeard = deferred();
  heard = isHeard.resolve;
  server.completion = async function* () {
    yield 'one piece';
    await isHeard.promise;
    throw new Error('the connection breaks');
  };
  assert.deepEqual(await streamed(), ['one piece', 'unreachable']);
  assert.equal(server.calls.length, calls + 6, 'and not after it');
});

test('a key is sent as bearer token, a user of the address as basic authentication, the key first', async () => {
  const authorization = async (apiKey: string | null, userinfo: string | null) => {
    await callsTo(server, { apiKey, userinfo }).embedder.embed(['x'], 'query');
    return lastCall().headers.authorization;
  };
  assert.equal(await authorization(null, null), undefined);
  assert.equal(await authorization('sk-1', null), 'Bearer sk-1');
  assert.equal(await authorization(null, 'me:pässword'), `Basic ${Buffer.from('me:pässword').toString('base64')}`);
  assert.equal(await authorization('sk-1', 'me:password'), 'Bearer sk-1');
});

test('a key that no header can carry is an error that does not repeat it', async () => {
  for (const apiKey of ['geheim\nschlüssel', 'ключ-geheim']) {
    await assert.rejects(callsTo(server, { apiKey }).embedder.embed(['x'], 'query'), (error: Error) => {
      assert.equal((error as Error & { code: string }).code, 'unauthorized');
      assert.doesNotMatch(`${error.stack} ${error.cause}`, /geheim/);
      return true;
    });
  }
});

test('a path goes below the address’s own path, and its parameters behind it', async () => {
  const at = (baseUrl: string, query: string | null, path: string) =>
    addressOf({ baseUrl, credentials: { api_key: null, userinfo: null, query } }, path).href;
  assert.equal(at('http://h:8/v1', null, '/rerank'), 'http://h:8/v1/rerank');
  assert.equal(at('http://h/', null, '/rerank'), 'http://h/rerank');
  assert.equal(at('https://h/a//', 'api-version=2', '/embed'), 'https://h/a/embed?api-version=2');
  await callsTo(server, { query: 'key=a%20b&v=2' }).embedder.embed(['x'], 'query');
  assert.equal(lastCall().query, 'key=a%20b&v=2');
});

test('what a part sets for itself is completed by what is set for the provider', () => {
  const given = (base_url: string | null, api_key: string | null, userinfo: string | null, query: string | null) => ({
    base_url,
    credentials: { api_key, userinfo, query },
  });
  const none = given(null, null, null, null);
  const shared = given('http://shared', 'k2', 'u:2', 'v=2');
  const own = given('http://own', null, null, null);
  assert.equal(endpointOf('p', none, undefined), null);
  assert.equal(endpointOf('p', none, none), null);
  const { credentials } = shared;
  assert.deepEqual(endpointOf('p', none, shared), { provider: 'p', baseUrl: 'http://shared', credentials });
  const completed = { ...own.credentials, api_key: 'k2' };
  assert.deepEqual(endpointOf('p', own, shared), { provider: 'p', baseUrl: 'http://own', credentials: completed });
  const keyAlone = given(null, 'k2', null, null);
  assert.equal(endpointOf('openai', none, keyAlone), null, 'a key may be that of another address');
  assert.equal(endpointOf('ollama', none, undefined)?.baseUrl, 'http://127.0.0.1:11434/v1');
});
