import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pseudoQuery, withoutOneWord } from '../../../src/compute/ranking/pseudo-queries.ts';
import { seededRandom } from '../../../src/compute/seeded-random.ts';

const passage = {
  title: 'Harbour pilots of the Elbe',
  section: 'Before the dredging',
  text: 'Short. The pilot cutter left the lightship at dawn and met the convoy near the western sandbanks. So it was.',
};

test('a query is the title, the heading, or some words of a sentence in their order', () => {
  const random = seededRandom(1);
  const sentence = passage.text.split('. ')[1].split(' ');
  const kinds = { named: 0, sentence: 0 };
  for (let round = 0; round < 200; round++) {
    const query = pseudoQuery(passage, random);
    assert.notEqual(query, null);
    if (query === passage.title || query === passage.section) {
      kinds.named++;
      continue;
    }
    kinds.sentence++;
    const words = (query ?? '').split(' ');
    assert.equal(words.length >= 4 && words.length <= 8, true, query ?? '');
    let from = 0;
    for (const word of words) {
      const at = sentence.findIndex((each, place) => place >= from && each.replace('.', '') === word);
      assert.notEqual(at, -1, query ?? '');
      from = at + 1;
    }
  }
  assert.equal(kinds.named > 20 && kinds.sentence > 100, true, JSON.stringify(kinds));
});

test('the same seed asks the same; a text without a sentence asks nothing', () => {
  assert.equal(pseudoQuery(passage, seededRandom(3)), pseudoQuery(passage, seededRandom(3)));
  assert.equal(pseudoQuery({ title: 'Elbe', section: null, text: 'One two. Three.' }, seededRandom(3)), null);
});

test('texts without spaces between words have queries, too', () => {
  const text = '港の水先案内人は夜明けに灯台船を離れて西の砂州の近くで船団に会ったと記録されている。';
  assert.notEqual(pseudoQuery({ title: null, section: null, text }, seededRandom(2)), null);
});

test('a title without one of its words still names something, or there is none', () => {
  const last = () => 0.99;
  const shorter = withoutOneWord('The old mill', () => 0);
  assert.equal(shorter, 'old mill');
  assert.equal(withoutOneWord('The old, old mill!', last), 'The old old');
  assert.deepEqual([withoutOneWord('Old mill', last), withoutOneWord(null, last)], [null, null]);
});
