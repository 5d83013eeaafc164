/** What the reranker in the process makes of its thread's answers and of time; the thread itself: test/app/transformers-rerank.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resilientCall } from '../../src/providers/resilient-call.ts';
import type { TransformerProblem } from '../../src/providers/transformers.ts';
import { type ScorePairs, transformersReranker } from '../../src/providers/transformers-reranker.ts';
import { runBreakers } from '../actors/system/running-breakers.ts';
import { HandClock } from './hand-clock.ts';

function reranking(score: ScorePairs, clock = new HandClock()) {
  const { breakers } = runBreakers({ failureThreshold: 3, cooldownMs: 60_000 }, () => clock.monotonic());
  const call = resilientCall({
    ...{ provider: 'transformers', breaker: breakers.of('transformers-rerank'), timeoutMs: 600_000 },
    retry: { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 },
    ...{ clock, random: Math.random },
  });
  const reranker = transformersReranker({ model: 'a-model', dtype: 'q8', call, score, clock });
  return { clock, reranker, breaker: () => breakers.states()[0]?.state ?? 'closed' };
}

const texts = (count: number) => Array.from({ length: count }, (_, at) => `text ${at}`);
/** The number in a text is its logit. */
const logitsOf = (passages: readonly string[]) =>
  Float32Array.from(passages, (passage) => Number(/\d+/.exec(passage)?.[0] ?? 0));
const shareOf = (logit: number) => 1 / (1 + Math.exp(-logit));

test('passages are scored four at a time, in their order, with shares of 0 to 1', async () => {
  const asked: (readonly string[])[] = [];
  const { reranker } = reranking(async ({ passages, query, model, dtype }) => {
    asked.push(passages);
    assert.deepEqual([model, dtype], ['a-model', 'q8']);
    assert.equal(query, asked.length === 1 ? 'query' : 'broken \ufffd');
    return { logits: logitsOf(passages) };
  });
  await reranker.warm();
  const scores = await reranker.rerank('broken \ud83d', texts(10));
  assert.deepEqual(
    [...scores],
    texts(10).map((_, at) => shareOf(at)),
  );
  assert.deepEqual(
    asked.map(({ length }) => length),
    [1, 4, 4, 2],
  );
  assert.equal((await reranker.rerank('q', [])).length, 0);
  assert.equal(asked.length, 4, 'nothing is scored of nothing');
  const long = Array.from({ length: 4 }, () => 'word '.repeat(2000));
  await reranker.rerank('broken \ud83d', long);
  assert.deepEqual(
    asked.slice(4).map(({ length }) => length),
    [1, 1, 1, 1],
    'long ones fewer at a time',
  );
});

test('what is not scored by the deadline has no score; nothing more is begun, and the breaker stays closed', async () => {
  const begun: AbortSignal[] = [];
  const { reranker, clock, breaker } = reranking(async ({ passages }, signal) => {
    begun.push(signal);
    await clock.sleep(passages.length === 1 ? 0 : 100);
    return { logits: logitsOf(passages) };
  });
  const warming = reranker.warm();
  await clock.advance(1);
  await warming;
  for (let round = 0; round < 5; round++) {
    begun.length = 0;
    const asking = reranker.rerank('q', texts(20), { deadlineMs: 250 });
    await clock.advance(250);
    const scores = await asking;
    assert.deepEqual(
      [...scores.subarray(0, 8)],
      texts(8).map((_, at) => shareOf(at)),
    );
    assert.ok(scores.subarray(8).every(Number.isNaN));
    assert.deepEqual(
      begun.map(({ aborted }) => aborted),
      [false, false, true],
      'the third was under way',
    );
    await clock.advance(1000);
    assert.equal(begun.length, 3);
    assert.equal(breaker(), 'closed');
  }
  const controller = new AbortController();
  const leaving = reranker.rerank('q', texts(20), { deadlineMs: 250, signal: controller.signal });
  await clock.advance(150);
  controller.abort(new Error('left'));
  await assert.rejects(leaving, /left/);
  assert.equal(clock.waiting > 1, false, 'no deadline is left behind');
});

test('nobody waits for a model that is loaded for the first time', async () => {
  let loaded = () => {};
  const loading = new Promise<void>((resolve) => {
    loaded = resolve;
  });
  let runs = 0;
  const { reranker } = reranking(async ({ passages }) => {
    runs++;
    await loading;
    return { logits: logitsOf(passages) };
  });
  const warming = reranker.warm();
  await assert.rejects(reranker.rerank('q', ['text 1']), {
    code: 'busy',
    message: 'provider transformers: the model a-model is being loaded',
  });
  assert.equal(runs, 1, 'it is loaded once');
  loaded();
  await warming;
  assert.deepEqual([...(await reranker.rerank('q', ['text 1']))], [shareOf(1)]);
});

test('what cannot be loaded is not tried again; what cannot be fetched is, behind the breaker', async () => {
  let problem: TransformerProblem | null = { problem: 'missing', message: 'no such package' };
  let runs = 0;
  const score: ScorePairs = async ({ passages }) => {
    runs++;
    return problem ?? { logits: logitsOf(passages) };
  };
  const missing = reranking(score).reranker;
  const lacking = {
    code: 'unconfigured',
    message: 'provider transformers: its package is not installed: npm install @huggingface/transformers',
  };
  await assert.rejects(missing.warm(), lacking);
  problem = null;
  await assert.rejects(missing.rerank('q', ['text 1']), lacking);
  assert.equal(runs, 1);

  problem = { problem: 'unloadable', message: 'no such file' };
  const absent = reranking(score).reranker;
  await assert.rejects(absent.warm(), { message: /the model a-model cannot be loaded: no such file$/ });

  problem = { problem: 'unreachable', message: 'fetch failed' };
  runs = 0;
  const { reranker, breaker } = reranking(score);
  await assert.rejects(reranker.warm(), { code: 'unreachable' });
  for (let search = 0; search < 5; search++) {
    await assert.rejects(reranker.rerank('q', ['text 1']), { code: 'busy' });
    await new Promise(setImmediate);
  }
  assert.deepEqual([breaker(), runs], ['open', 3]);
});

test('a run that fails, or gives no number for each passage, ends the call', async () => {
  let answer = async (passages: readonly string[]) => ({ logits: logitsOf(passages) });
  const { reranker } = reranking(({ passages }) => answer(passages));
  await reranker.warm();
  for (const logits of [Float32Array.of(1), Float32Array.of(1, Number.NaN)]) {
    answer = async () => ({ logits });
    await assert.rejects(reranker.rerank('q', texts(2)), { code: 'bad_answer' });
  }
  answer = () => Promise.reject(new RangeError('of ONNX'));
  await assert.rejects(reranker.rerank('q', texts(2)), {
    code: 'failing',
    message: 'provider transformers: the model failed (RangeError)',
  });
});
