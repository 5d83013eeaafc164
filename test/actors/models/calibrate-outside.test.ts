import assert from 'node:assert/strict';
import { test } from 'node:test';
import sample from '../../../models/floor-sample.json' with { type: 'json' };
import { floorCalibrator } from '../../../src/actors/models/model-embedder.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';

const row = { id: 'openai-m-2', provider: 'openai', model_name: 'm', dim: 2, max_input_tokens: 512, floor: null };

async function open() {
  const temporary = await TemporaryStore.open();
  const { reader } = temporary.store;
  const model = { ...row, space: 7, status: 'ready' } as const;
  await temporary.commit(({ models }) => models.put(model));
  const asked: string[][] = [];
  let answer = async (texts: readonly string[]) => {
    // Passages to the right; queries at an angle whose cosine is the place of their subject.
    const isQuery = texts.length === 2 * sample.length;
    return Float32Array.from(
      texts.flatMap((_, at) => {
        const cosine = isQuery ? Math.floor(at / 2) / sample.length : 1;
        return [cosine, Math.sqrt(1 - cosine * cosine)];
      }),
    );
  };
  const vectors = async (_model: unknown, texts: readonly string[]) => {
    asked.push([...texts]);
    return answer(texts);
  };
  const embedders = { queryVectors: vectors, documentVectors: vectors };
  const commit: TemporaryStore['commit'] = (command) => temporary.commit(command);
  const calibrate = floorCalibrator({ embedders, reader, commit });
  const fail = () => {
    answer = () => Promise.reject(new Error('down'));
  };
  return {
    reader,
    commit,
    model,
    asked,
    calibrate,
    fail,
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}

const never = new AbortController().signal;

test('the floor is measured once, by whoever comes first, and kept with the model', async () => {
  await using opened = await open();
  const { reader, model, asked, calibrate } = opened;
  await Promise.all([calibrate(model, never), calibrate(model, never)]);
  await calibrate(model, never);
  assert.deepEqual([asked.length, asked[1].length], [2, 40]);
  assert.equal(asked[0].join(), sample.map(({ passage }) => passage).join());
  assert.deepEqual(asked[1].slice(0, 2), sample[0].queries);
  // 760 cosines, 38 of each of 0, .05 … .95: the 722nd is the first of the highest.
  assert.ok(Math.abs((reader.models.get(model.id)?.floor ?? 0) - 0.95) < 1e-6);
});

test('a measurement that fails is made again by the next one', async () => {
  await using opened = await open();
  const { reader, model, asked, calibrate, fail } = opened;
  fail();
  const both = await Promise.allSettled([calibrate(model, never), calibrate(model, never)]);
  assert.ok(both.every(({ status }) => status === 'rejected'));
  await assert.rejects(calibrate(model, never), /down/);
  assert.equal(asked.length, 2);
  assert.equal(reader.models.get(model.id)?.floor, null);
});

test('the floor of a model that was registered anew meanwhile is not the old one’s', async () => {
  await using opened = await open();
  const { reader, commit, model, calibrate } = opened;
  await commit(({ models }) => models.put({ ...model, space: 8 }));
  await calibrate(model, never);
  assert.equal(reader.models.get(model.id)?.floor, null);
});
