import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { embedApart } from '../../../src/actors/models/model-embedder.ts';
import { ProviderError } from '../../../src/providers/resilient-call.ts';

const dim = 2;
const refusal = (code: 'refused' | 'bad_answer' = 'refused') => new ProviderError('p', code, 'answered 400');

/** A provider whose vector of the text "7" is (7, 1), and which refuses a request with a text that is not to its taste. */
function provider(refuses: (text: string) => boolean, error: Error = refusal()) {
  const calls: string[][] = [];
  const embed = async (texts: readonly string[]) => {
    calls.push([...texts]);
    if (texts.some(refuses)) throw error;
    return Float32Array.from(texts.flatMap((text) => [Number(text), 1]));
  };
  return { calls, embed };
}

test('exactly the texts that are refused alone have no vector, whichever they are, in few calls', async () => {
  const cases = fc.record({
    count: fc.integer({ min: 1, max: 70 }),
    bad: fc.uniqueArray(fc.integer({ min: 0, max: 69 }), { maxLength: 6 }),
    code: fc.constantFrom('refused' as const, 'bad_answer' as const),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ count, bad, code }) => {
      const texts = Array.from({ length: count }, (_, at) => `${at}`);
      const wrong = new Set(bad.filter((at) => at < count).map(String));
      const { calls, embed } = provider((text) => wrong.has(text), refusal(code));
      const { rows, refused } = await embedApart(texts, { dim, embed, tolerated: wrong.size });
      const ats = [...wrong].map(Number).sort((a, b) => a - b);
      const told = ats.map((at): [number, string] => [at, 'provider p: answered 400']);
      const sorted = [...refused].sort(([a], [b]) => a - b);
      assert.deepEqual(sorted, told);
      assert.deepEqual(
        [...rows],
        texts.flatMap((text) => (wrong.has(text) ? [0, 0] : [Number(text), 1])),
      );
      const depth = Math.ceil(Math.log2(count)) + 1;
      assert.ok(calls.length <= 2 + 2 * wrong.size * depth, `${calls.length} calls`);
    }),
  );
});

test('where a harmless text is refused too no text is at fault: two calls, and the first refusal', async () => {
  const first = refusal();
  const { calls, embed } = provider(() => true, first);
  await assert.rejects(embedApart(['1', '2', '3'], { dim, embed, tolerated: 3 }), (error) => error === first);
  assert.equal(calls.length, 2);
});

test('what happens to the harmless text instead is told', async () => {
  const down = new ProviderError('p', 'failing', 'answered 500');
  const embed = async (texts: readonly string[]) => {
    throw texts.length > 1 ? refusal() : down;
  };
  await assert.rejects(embedApart(['1', '2'], { dim, embed, tolerated: 2 }), (error) => error === down);
});

test('more refusals than tolerated are the provider’s fault', async () => {
  const { embed } = provider((text) => text === '1' || text === '3');
  const texts = ['0', '1', '2', '3'];
  await assert.rejects(embedApart(texts, { dim, embed, tolerated: 1 }), { code: 'refused' });
  assert.equal((await embedApart(texts, { dim, embed, tolerated: 2 })).refused.size, 2);
});

test('an error that is no text’s ends it at once, and no texts need no call', async () => {
  const down = new ProviderError('p', 'unreachable', 'cannot be reached');
  const { calls, embed } = provider(() => true, down);
  await assert.rejects(embedApart(['1', '2'], { dim, embed, tolerated: 2 }), (error) => error === down);
  assert.equal(calls.length, 1);
  const none = await embedApart([], { dim, embed, tolerated: 0 });
  assert.deepEqual(none, { rows: new Float32Array(), refused: new Map() });
  assert.equal(calls.length, 1);
});
