import assert from 'node:assert/strict';
import { test } from 'node:test';
import winkNlp from 'wink-nlp';
import { englishModel } from '../../../src/compute/text/wink-tokenizer.ts';

test('the model may be loaded any number of times: what it gives stays as long as it is', () => {
  // By itself it doubles each time, and throws after some twenty.
  const load = englishModel.metaCER as () => unknown;
  const first = JSON.stringify(load()).length;
  for (let no = 0; no < 30; no++) load();
  assert.equal(JSON.stringify(load()).length, first);
  assert.deepEqual(winkNlp(englishModel, ['sbd']).readDoc('One. Two.').sentences().out(), ['One.', 'Two.']);
});
