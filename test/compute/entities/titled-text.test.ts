import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadNameTagger } from '../../../src/actors/entities/load-name-tagger.ts';
import { openWordVectors } from '../../../src/compute/embedding/word-vectors.ts';
import { gatherMentions } from '../../../src/compute/entities/gather-mentions.ts';
import { createEntityRecognizer } from '../../../src/compute/entities/recognize-entities.ts';
import { titledText } from '../../../src/compute/entities/titled-text.ts';
import { createWordKinds } from '../../../src/compute/entities/word-kinds.ts';
import { loadWordVectors } from '../../../src/engine/load-word-vectors.ts';

const recognize = createEntityRecognizer(createWordKinds(openWordVectors(loadWordVectors())), loadNameTagger());

/** `type: spelling` with the places of its mentions. */
function mentionsOf(title: string | null, body: string): Record<string, number[]> {
  const { text, bodyAt } = titledText(title, body);
  const found = gatherMentions(text, recognize(text, bodyAt > 0), bodyAt);
  return Object.fromEntries(found.flatMap(({ type, forms }) => forms.map(([form, at]) => [`${type}: ${form}`, at])));
}

test('the title is read as a line before the body, without the name of the site behind it', () => {
  const lineOf = (title: string | null) => titledText(title, 'Body.').text;
  assert.equal(lineOf('Rivers of Ghana - Wikipedia'), 'Rivers of Ghana\nBody.');
  assert.equal(lineOf('Rivers of\n Ghana | The Daily Planet'), 'Rivers of Ghana\nBody.');
  assert.equal(lineOf('Google - Site Reliability Engineering'), 'Google - Site Reliability Engineering\nBody.');
  assert.equal(lineOf('Well-known rivers'), 'Well-known rivers\nBody.');
  for (const none of [null, '', ' \n ']) assert.deepEqual(titledText(none, 'Body.'), { text: 'Body.', bodyAt: 0 });
});

test('a name in the title is a mention whose offsets end below 0, those of the body are offsets into it', () => {
  const body = 'Angela Merkel went there by train. In Oslo she spoke.';
  assert.deepEqual(mentionsOf('Angela Merkel Visits Oslo', body), {
    'person: Angela Merkel': [-26, -13, 0, 13],
    'place: Oslo': [-5, -1, 38, 42],
  });
  assert.deepEqual(mentionsOf(null, body), { 'person: Angela Merkel': [0, 13], 'place: Oslo': [38, 42] });
});

test('what a body says of a word decides whether it is a name in the title', () => {
  const body = 'The Zorblax was built in 1901, and the Zorblax burned.';
  assert.deepEqual(Object.values(mentionsOf('All About the Zorblax', body)), [[-8, -1, 4, 11, 39, 46]]);
  assert.deepEqual(mentionsOf('Chocolate Cake Recipe', 'Melt the chocolate. Bake the cake.'), {});
  assert.deepEqual(mentionsOf('Why Bread Is Good?', 'Nobody knows.'), {});
});

test('of a name whose beginning is not known the end alone is no name, nor is a first word alone', () => {
  assert.deepEqual(mentionsOf('New Ottawa', 'It was built there.'), {});
  assert.deepEqual(mentionsOf('Ottawa', 'It was built there.'), {});
  assert.deepEqual(mentionsOf('Ottawa', 'It was built in Ottawa.'), { 'place: Ottawa': [-7, -1, 16, 22] });
  assert.deepEqual(mentionsOf('Bread of Ottawa', 'It was built there.'), { 'place: Ottawa': [-7, -1] });
});

test('a title before a body of one long line is a line of its own', () => {
  const short = 'The valley was green, and nobody lived there.';
  const long = `${short} ${'It rained on the fields again. '.repeat(900)}`.trim();
  const title = 'Why Nobody Lived There Before Rain Came';
  assert.deepEqual(mentionsOf(title, long), mentionsOf(title, short));
});
