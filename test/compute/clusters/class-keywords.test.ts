import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClassKeywords } from '../../../src/compute/clusters/class-keywords.ts';
import { createKeywordTerms } from '../../../src/compute/clusters/keyword-terms.ts';
import { porterStem } from '../../../src/compute/text/stemmers.ts';
import { labelOf } from '../../../src/domain/cluster.ts';

const termsOf = createKeywordTerms(porterStem);

function keywordsOf(texts: readonly (readonly [number, string])[]): Map<number, string[]> {
  const keywords = new ClassKeywords();
  for (const [cluster, text] of texts) keywords.add(cluster, 'en', termsOf(text, 'en'));
  return keywords.keywords();
}

test('keywords are what the pages of a cluster have and others have not, written as they are written most', () => {
  const found = keywordsOf([
    [0, 'The boilers of steam engines drive the pistons.'],
    [0, 'Steam from the boiler moves a piston of the engine.'],
    [0, 'Boilers make steam for the engine.'],
    [1, 'The herons of the pond eat the fish.'],
    [1, 'A heron of the marsh hunts fish.'],
    [1, 'Fish fear the heron.'],
  ]);
  assert.deepEqual(found.get(0)?.slice(0, 3).sort(), ['boiler', 'engine', 'steam']);
  assert.deepEqual(found.get(1)?.slice(0, 2).sort(), ['fish', 'heron']);
  assert.ok(![...found.values()].flat().includes('the'));
});

test('names of two words stand for their parts; what one page alone says is no keyword', () => {
  const found = keywordsOf([
    [0, 'They flew to New York on Monday. Zanzibar Zanzibar Zanzibar.'],
    [0, 'In New York it rained.'],
    [0, 'Rain fell on New York again.'],
    [1, 'The old cat slept.'],
    [1, 'An old dog slept.'],
    [-1, 'They fell in love with the rain.'],
  ]);
  assert.equal(found.get(0)?.[0], 'New York');
  assert.ok(!found.get(0)?.some((word) => ['New', 'York', 'Zanzibar'].includes(word)));
});

test('scripts without spaces are cut into words', () => {
  const found = keywordsOf([
    [0, '東京の地下鉄は便利です。'],
    [0, '地下鉄で東京へ行く。'],
    [1, 'Cats sleep.'],
    [1, 'Cats dream.'],
  ]);
  assert.ok(found.get(0)?.includes('東京'), found.get(0)?.join());
});

test('the label is made of the first keywords', () => {
  assert.equal(labelOf(['a', 'b', 'c', 'd']), 'a, b, c');
  assert.equal(labelOf([]), null);
});

test('of the forms of one word, and of a name and its part, only the best is said', () => {
  const found = keywordsOf([
    [0, 'In Iraq the Iraqi army marched. The Mongol camp. A Mongol rode.'],
    [0, 'Iraq and the Iraqi leader. The Mongol horse. Mongol bows.'],
    [0, 'Iraqi oil of Iraq. The Mongol law. Mongol roads.'],
    [1, 'The old cat slept.'],
    [1, 'An old dog slept.'],
    [1, 'A cat and the dog.'],
  ]);
  assert.deepEqual(found.get(0)?.filter((word) => word.startsWith('Iraq')).length, 1, found.get(0)?.join());
  assert.deepEqual(found.get(0)?.filter((word) => word.includes('Mongol')).length, 1, found.get(0)?.join());
});

test('common words give way to rare ones that as many pages of the cluster have', () => {
  const page = (cluster: number, text: string): [number, string] => [cluster, text];
  const found = keywordsOf([
    ...Array.from({ length: 4 }, () => page(0, 'They said that herons fish.')),
    ...Array.from({ length: 3 }, () => page(1, 'They said it rained.')),
    ...Array.from({ length: 3 }, () => page(1, 'Clouds came up.')),
    ...Array.from({ length: 4 }, () => page(2, 'Roads and bridges.')),
  ]);
  assert.deepEqual(found.get(0)?.slice(0, 2).sort(), ['fish', 'herons']);
});

test('addresses and what is left of HTML are no words', () => {
  const surfaces = termsOf(
    'See https://www.example.org/full.aspx?ticker=X or &lt;A HREF="www.example.com/q"&gt; <b>R&D</b> at b&gt;c, U.S. law',
    'en',
  ).map(({ surface }) => surface);
  assert.ok(surfaces.includes('R&D'), surfaces.join());
  assert.deepEqual(
    surfaces.filter((word) => /http|www|aspx|ticker|gt|lt/.test(word)),
    [],
  );
});

test('words that every page of a language has name no topic', () => {
  const keywords = new ClassKeywords();
  const add = (cluster: number, language: string, text: string) =>
    keywords.add(cluster, language, termsOf(text, language));
  for (let page = 0; page < 6; page++) {
    add(0, 'en', 'The herons of the marsh hunt fish with their bills.');
    add(1, 'en', 'The engines of the mill turn with their steam.');
    add(2, 'pt', `Uma receita que vem com o bolo para ${['Ana', 'Rui', 'Eva', 'Ivo', 'Zé', 'Gil'][page]}.`);
    add(3, 'de', 'Die Reiher fischen mit dem Schnabel in dem Teich.');
    add(-1, 'de', 'Die Mühle mahlt mit dem Wasser in dem Tal.');
  }
  const found = keywords.keywords();
  assert.deepEqual(found.get(2), ['bolo', 'receita']);
  const words = [...found.values()].flat().map((word) => word.toLowerCase());
  for (const common of ['the', 'with', 'their', 'que', 'com', 'para', 'die', 'mit', 'dem'])
    assert.ok(!words.includes(common));
  assert.deepEqual([...(found.get(3) ?? [])].sort(), ['Reiher', 'Schnabel', 'Teich', 'fischen']);
});

test('a word on more than a tenth of the other pages is common, however many pages of the cluster have it', () => {
  const keywords = new ClassKeywords();
  const add = (cluster: number, text: string) => keywords.add(cluster, 'en', termsOf(text, 'en'));
  for (let page = 0; page < 10; page++) add(0, 'your recipes, your bread');
  for (let page = 0; page < 40; page++) add(1, page < 5 ? 'your taxes' : 'taxes');
  const found = keywords.keywords();
  assert.ok(!found.get(0)?.includes('your'), found.get(0)?.join());
  assert.ok(found.get(0)?.includes('bread'), found.get(0)?.join());
});

test('a cluster that is all of its language is named by what most of its pages say, without stop words', () => {
  const keywords = new ClassKeywords();
  const add = (cluster: number, language: string, text: string) =>
    keywords.add(cluster, language, termsOf(text, language));
  for (let page = 0; page < 6; page++) {
    add(0, 'en', 'Our boilers had steam.');
    add(1, 'de', `Zum Teig wird die Hefe gegeben, damit er im ${['Ofen', 'Topf', 'Haus'][page % 3]} aufgeht.`);
    add(2, 'es', `Una masa que va con la levadura ${['hoy', 'siempre', 'luego', 'antes', 'tarde', 'nunca'][page]}.`);
    // No list of stop words is known: what all pages say may be articles.
    add(3, 'xx', 'lo brae lo skun');
  }
  const found = keywords.keywords();
  assert.deepEqual([...(found.get(0) ?? [])].sort(), ['boilers', 'steam']);
  assert.deepEqual([...(found.get(1) ?? [])].slice(0, 4).sort(), ['Hefe', 'Teig', 'aufgeht', 'gegeben']);
  assert.deepEqual([...(found.get(2) ?? [])].sort(), ['levadura', 'masa']);
  assert.deepEqual(found.get(3), []);
});

test('no stop word of its language is in a name, alone or before a name', () => {
  const words = (language: string, text: string) => termsOf(text, language).map(({ surface }) => surface);
  assert.deepEqual(words('en', 'Our herons had fish'), ['herons', 'fish']);
  assert.deepEqual(words('en', 'The United Nations'), ['United', 'Nations', 'United Nations']);
  assert.deepEqual(words('de', 'Das Brot wird zum Ofen getragen'), ['Brot', 'Ofen', 'getragen']);
  assert.deepEqual(words('pt', 'Uma receita que vem com o bolo'), ['receita', 'bolo']);
  assert.deepEqual(words('no', 'Det er ikke fisk'), ['fisk']);
  assert.deepEqual(words('', 'Our herons'), ['Our', 'herons']);
});

test('a legal form is in no name of a topic, and what stands before it is', () => {
  const surfaces = termsOf('Apple Inc sued Acme Corp and Beta Ltd. Corporate law, in corpora.', 'en').map(
    (term) => term.surface,
  );
  assert.deepEqual(surfaces, ['Apple', 'sued', 'Acme', 'Beta', 'Corporate', 'law', 'corpora']);
});

test('words that only join others are no keywords, contracted or not', () => {
  const found = keywordsOf([
    [0, 'Why aren’t glaciers growing? When not fed by snow they shrink.'],
    [0, 'Glaciers don’t stand still; when they do not flow they are dead.'],
    [0, "When glaciers aren't cold they do not last."],
    [1, 'Cats sleep all day.'],
    [1, 'Cats dream at night.'],
  ]);
  assert.deepEqual(found.get(0), ['glaciers']);
});
