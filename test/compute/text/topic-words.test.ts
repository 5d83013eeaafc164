import assert from 'node:assert/strict';
import { test } from 'node:test';
import { porterStem } from '../../../src/compute/text/stemmers.ts';
import { createTopicTerms, TopicWords } from '../../../src/compute/text/topic-words.ts';
import { labelOf } from '../../../src/domain/cluster.ts';

const termsOf = createTopicTerms(porterStem);

function keywordsOf(texts: readonly (readonly [number, string])[]): Map<number, string[]> {
  const keywords = new TopicWords();
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
    [2, 'OSLO - Snow for NASA.'],
    [2, 'OSLO - In Oslo NASA has ice.'],
    [2, 'OSLO - Wind over Oslo and NASA.'],
  ]);
  assert.deepEqual(
    found
      .get(2)
      ?.filter((word) => /oslo|nasa/i.test(word))
      .sort(),
    ['NASA', 'Oslo'],
  );
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

test('a label is of two words or three, begins with a capital, and no two topics have the same', () => {
  assert.equal(labelOf(['steam engine', 'boiler', 'piston']), 'Steam engine');
  assert.equal(labelOf(['herons', 'fish', 'pond']), 'Herons, fish');
  assert.equal(labelOf(['herons', 'river bank']), 'Herons, river bank');
  assert.equal(labelOf(['steam engine', 'boiler'], new Set(['steam engine'])), 'Steam engine, boiler');
  const taken = new Set(['steam engine', 'steam engine, boiler', 'steam engine, boiler 2']);
  assert.equal(labelOf(['Steam Engine', 'boiler'], taken), 'Steam Engine, boiler 3');
  assert.equal(labelOf([]), null);
});

test('a phrase that most of its pages have stands for its words; what pages say about themselves is none', () => {
  const found = keywordsOf([
    [0, 'Subscribe to the newsletter. The steam engine ran; steam engines drove mills.'],
    [0, 'Subscribe to the newsletter. Three hours later. A steam engine is loud. Accept cookies.'],
    [0, 'Subscribe to the newsletter. Three hours later. Old steam engines need coal. Accept cookies.'],
    [1, 'The old cat slept.'],
    [1, 'An old dog slept.'],
  ]);
  assert.equal(found.get(0)?.[0], 'steam engine');
  assert.ok(
    !found.get(0)?.some((word) => /newsletter|subscribe|cookie|three|hour|^steam$|^engine$/i.test(word)),
    found.get(0)?.join(),
  );
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
    ...Array.from({ length: 4 }, () => page(0, 'They said that about herons and fish.')),
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
  const addresses = surfaces.filter((word) => /http|www|aspx|ticker|gt|lt/.test(word));
  assert.deepEqual(addresses, []);
});

test('words that every page of a language has name no topic', () => {
  const keywords = new TopicWords();
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
  const keywords = new TopicWords();
  const add = (cluster: number, text: string) => keywords.add(cluster, 'en', termsOf(text, 'en'));
  for (let page = 0; page < 10; page++) add(0, 'your recipes, your bread');
  for (let page = 0; page < 40; page++) add(1, page < 5 ? 'your taxes' : 'taxes');
  const found = keywords.keywords();
  assert.ok(!found.get(0)?.includes('your'), found.get(0)?.join());
  assert.ok(found.get(0)?.includes('bread'), found.get(0)?.join());
});

test('a cluster that is all of its language is named by what most of its pages say, without stop words', () => {
  const keywords = new TopicWords();
  const add = (cluster: number, language: string, text: string) =>
    keywords.add(cluster, language, termsOf(text, language));
  for (let page = 0; page < 6; page++) {
    add(0, 'en', 'Our boilers had steam.');
    add(1, 'de', `Zum Teig wird die Hefe gegeben, damit er im ${['Ofen', 'Topf', 'Haus'][page % 3]} aufgeht.`);
    add(2, 'es', `Una masa que va con la levadura ${['hoy', 'siempre', 'luego', 'antes', 'tarde', 'nunca'][page]}.`);
    // No list of stop words is known: what all pages say may be articles, unless it is long.
    add(3, 'xx', 'lo brae lo skun');
    add(4, 'yy', 'lo brae lo skundrake');
  }
  const found = keywords.keywords();
  assert.deepEqual([...(found.get(0) ?? [])].sort(), ['boilers', 'steam']);
  assert.deepEqual([...(found.get(1) ?? [])].slice(0, 4).sort(), ['Hefe', 'Teig', 'aufgeht', 'gegeben']);
  assert.deepEqual([...(found.get(2) ?? [])].sort(), ['levadura', 'masa']);
  assert.deepEqual(found.get(3), []);
  assert.deepEqual(found.get(4), ['skundrake']);
});

test('a topic that its main language gives no keyword is named in the next one, or by its titles', () => {
  const keywords = new TopicWords();
  const add = (cluster: number, language: string, text: string, title = '') =>
    keywords.add(cluster, language, termsOf(text, language), termsOf(title, language));
  for (let page = 0; page < 6; page++) {
    const stray = `single${'abcdef'[page]}`;
    add(0, 'en', stray);
    if (page < 3) add(0, 'de', 'Die Hefe im Teig');
    add(1, 'en', stray, 'Garden pond');
    add(2, 'en', stray);
    add(-1, 'en', 'taxes', 'News');
    add(-1, 'de', 'Die Mühle');
  }
  const found = keywords.keywords();
  assert.deepEqual([...(found.get(0) ?? [])].sort(), ['Hefe', 'Teig']);
  assert.deepEqual(found.get(1), ['Garden pond']);
  assert.deepEqual(found.get(2), []);
});

test('terms of all languages together are bounded, and those on the fewest pages go first', () => {
  const keywords = new TopicWords(40);
  for (let page = 0; page < 30; page++) {
    for (const language of ['en', 'de', 'xx']) {
      const names = Array.from({ length: 6 }, (_, i) => `${language}${page - (page % 2)}${'abcdef'[i]}`);
      keywords.add(page % 2, language, termsOf([['herons', 'ponds'][page % 2], ...names].join('. '), language));
      assert.ok(keywords.terms <= 40, `${keywords.terms}`);
    }
  }
  for (let page = 0; page < 30; page++) keywords.add(2, 'en', termsOf('taxes', 'en'));
  assert.deepEqual(keywords.keywords().get(0), ['herons']);
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
  assert.deepEqual(surfaces, ['Apple', 'sued', 'Acme', 'Beta', 'Corporate', 'law', 'Corporate law', 'corpora']);
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
