import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { createRuleTokenizer } from '../../src/compute/text/rule-tokenizer.ts';
import { porterStem, stemIn } from '../../src/compute/text/stemmers.ts';
import { createWinkTokenizer } from '../../src/compute/text/wink-tokenizer.ts';
import { createHighlighter, maxSnippet } from '../../src/engine/highlight.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const highlighter = createHighlighter(porterStem, createTextAnalyzer(createRuleTokenizer));

function highlighted(text: string, stems: readonly string[], language = ''): string[] {
  const [{ highlights }] = highlighter.mark([{ text, language }], stems);
  return highlights.map(({ start, end }) => text.slice(start, end));
}

test('words are highlighted in whatever form they stand, in English and in the language of the passage', () => {
  const governed = highlighted("The governor's engines were governed by engineers.", ['governor', 'engin']);
  assert.deepEqual(governed, ['governor', 'engines', 'engineers']);
  assert.deepEqual(highlighted('Die Häuser am Haus, ein Hausboot', ['haus'], 'de'), ['Häuser', 'Haus']);
  assert.deepEqual(highlighted('Ölpreise fallen', ['olpreis'], 'de'), ['Ölpreise']);
  assert.deepEqual(highlighted('книги и книгу', ['книг'], 'ru'), ['книги', 'книгу']);
  assert.deepEqual(highlighted('Learn C++ and C#, not C', ['c++', 'c#']), ['C++', 'C#']);
  assert.deepEqual(highlighted("l'eau de l’eau", ['eau'], 'fr'), ['eau', 'eau']);
  assert.deepEqual(highlighted('Pythonは人気です。入門Python', ['python'], 'ja'), ['Python', 'Python']);
  assert.deepEqual(highlighted('犬と猫が好き', ['猫'], 'ja'), ['猫']);
  assert.deepEqual(highlighted('die, dying, died', ['die']), ['die', 'dying', 'died']);
  assert.deepEqual(highlighted("The dogs' bowls, the DOG'S bowl", ['dog']), ['dogs', 'DOG']);
  assert.deepEqual(highlighted('Ärzte, Aerzte und Arzneien', [stemIn('de', 'ärzte') ?? ''], 'de'), ['Ärzte', 'Aerzte']);
  const french = highlighted("l\u02bceau, l'œuvre et les œuvres", ['eau', 'oeuvr'], 'fr');
  assert.deepEqual(french, ['eau', 'œuvre', 'œuvres']);
  assert.deepEqual(highlighted('İstanbul', ['istanbul'], 'tr'), ['İstanbul']);
  assert.deepEqual(highlighted('озеро, о\u0301зеро', ['озер'], 'ru').length, 2);
  assert.deepEqual(highlighted('membaca buku', [stemIn('ms', 'baca') ?? ''], 'ms'), ['membaca']);
  assert.deepEqual(highlighted('Searching in Häusern', ['search', 'haus'], 'de'), ['Searching', 'Häusern']);
  assert.deepEqual(highlighted('שָׁלוֹם', ['שלום']), ['שָׁלוֹם']);
  assert.deepEqual(highlighted('nothing of it', ['haus'], 'de'), []);
});

test('a word is highlighted where its stem has another alphabet, or is cut from its middle', () => {
  const texts = {
    sr: 'Декларација о правима човека: Nijedna odredba, njegovim pravima.',
    ms: 'menulis, memukul, penyanyi, terdakwa, DIPERLAKUKAN sewenang-wenang',
    ta: 'இப்பிரகடனத்தில் எத்தகைய உரிமைகள்',
    ar: 'الإعلان العالمي والحرية بالكرامة',
  };
  for (const [language, text] of Object.entries(texts)) {
    for (const word of text.match(/[\p{L}\p{M}]{4,}/gu) ?? []) {
      const stem = stemIn(language, word.toLowerCase()) ?? '';
      assert.ok(stem !== '' && highlighted(text, [stem], language).includes(word), `${word}: ${stem}`);
      assert.ok(!highlighted(text, [`${stem}x`], language).includes(word), word);
    }
  }
});

test('a word is highlighted exactly where its stem is looked for, though most are passed over by their first letters', () => {
  const stem = porterStem;
  const words =
    `relational conditional rationed valency hesitancy digitizer conformably radically differently vilely analogously vietnamization
    predication operator feudalism decisiveness hopefulness callousness formality sensitivity sensibility respond responsibility
    respondents skies dying lying tied cries flies skis happy happiness happier enjoy enjoys enjoying yellow youth saying arsenal
    generate generous general communal commune hoping hopped hop falling filing fizzed sized ability able ugly early only singly
    owed ease eased axe be being been Élan élan resume résumé naive naïve xenon xylem a I 747 b2b covid19`.split(/\s+/);
  const stems = new Set(words.map((word) => stem(word.toLowerCase().normalize('NFD').replace(/\p{M}/gu, ''))));
  for (const wanted of stems) {
    const expected = words.filter((word) => {
      const folded = word.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
      return wanted === (/^[a-z]+$/.test(folded) ? stem(folded) : folded);
    });
    assert.deepEqual(highlighted(words.join(' '), [wanted]), expected, wanted);
  }
});

test('pairs of characters are highlighted as one, dictionary words whole', () => {
  const { stems } = analyzer.terms('東京タワー');
  assert.deepEqual(highlighted('昨日、東京タワーに行った。', stems), ['東京タワー']);
  assert.deepEqual(highlighted('แม่น้ำเจ้าพระยา', ['แม่น้ำ'], 'th'), ['แม่น้ำ']);
});

test('the snippet is the sentences that hold most of what is highlighted, and begins with one', () => {
  const filler = 'Nothing of note was said about it on that long day. '.repeat(20);
  const told = 'Halibut is baked with lemon. Serve the halibut with potatoes.';
  const text = `${filler}${told} ${filler}`;
  const [{ snippet }] = highlighter.mark([{ text, language: '' }], ['halibut', 'lemon', 'potato']);
  const shown = text.slice(snippet.start, snippet.end);
  assert.ok(shown.includes(told), shown);
  assert.match(text.slice(0, snippet.start), /\. $/);
  assert.ok(shown.length <= maxSnippet);
});

test('in a sentence without an end it is what is around the first word found', () => {
  const text = `${'word '.repeat(200)}halibut ${'word '.repeat(200)}`;
  const [{ snippet }] = highlighter.mark([{ text, language: '' }], ['halibut']);
  assert.match(text.slice(snippet.start, snippet.end), /^word .* halibut .* word$/);
});

test('offsets are in order, inside the passage, and never cut a character, whatever the text is', () => {
  const words = ['halibut', 'Halibuts', ' ', '. ', '\n', '😀', 'é', 'e\u0301', '東京', '。', "'s", '\ud83d'];
  const piece = fc.constantFrom(...words, 'x'.repeat(90));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 120 }), (pieces) => {
      const text = pieces.join('');
      const [{ highlights, snippet }] = highlighter.mark([{ text, language: 'ja' }], ['halibut', '東京']);
      let end = 0;
      for (const span of highlights) {
        assert.ok(span.start >= end && span.end > span.start && span.end <= text.length);
        end = span.end;
      }
      assert.ok(snippet.start >= 0 && snippet.end >= snippet.start && snippet.end <= text.length);
      assert.ok(snippet.end - snippet.start <= maxSnippet);
      const shown = text.slice(snippet.start, snippet.end);
      if (text.isWellFormed()) assert.ok(shown.isWellFormed());
    }),
  );
});

test('piles of marks and runs of stops cost no more than their length', () => {
  const pile = `halibut ${'a\u0301\u0316'.repeat(1)}${'\u0301\u0316'.repeat(200_000)} ${'.'.repeat(200_000)}`;
  assert.deepEqual(highlighted(pile, ['halibut']), ['halibut']);
});

test('numbers, acronyms and words with a point are highlighted as the index cuts them', () => {
  const marked = (text: string, query: string) => highlighted(text, analyzer.terms(query).stems);
  assert.deepEqual(marked('Python 3.11.4 came out, and 3.12 later.', '3.11.4'), ['3.11.4']);
  assert.deepEqual(marked('A 3D printer (v3.11.4, PhD thesis)', '3D'), ['3', 'D']);
  assert.deepEqual(marked('It needs 5G, 10kg and 500MHz.', '5G'), ['5', 'G']);
  assert.deepEqual(marked('At 10:45 and for $1,299.99', '10:45'), ['10:45']);
  assert.deepEqual(marked('At 10:45 and for $1,299.99', '1299.99'), ['1,299.99']);
  assert.deepEqual(marked('The U.K. left. Ask the M.I.T. about node.js!', 'uk'), ['U.K.']);
  assert.deepEqual(marked('The U.K. left. Ask the M.I.T. about node.js!', 'node'), ['node']);
  assert.deepEqual(marked('End.Start without a space', 'start'), ['Start']);
});

test('what is invisible within a word hides nothing', () => {
  const stems = [stemIn('de', 'kraftfahrzeugmechaniker') ?? ''];
  const mechanic = 'Kraft\u00adfahr\u00adzeug\u00admechaniker';
  assert.deepEqual(highlighted(`Der ${mechanic} kam`, stems, 'de'), [mechanic]);
  assert.deepEqual(highlighted('Kr\u00adaftfahrzeugmechaniker', stems, 'de'), ['Kr\u00adaftfahrzeugmechaniker']);
  assert.deepEqual(highlighted('این کتاب\u200cها', ['کتابها'], 'fa'), ['کتاب\u200cها']);
});

test('a snippet holds what it was taken for, where it ends within a sentence', () => {
  const text = `${'so many words '.repeat(20)}before halibut${' and more of them'.repeat(20)}`;
  const [{ highlights, snippet }] = highlighter.mark([{ text, language: 'en' }], ['halibut']);
  assert.ok(highlights[0].start >= snippet.start && highlights[0].end <= snippet.end);
});

test('a Turkish name is highlighted with the ending behind its apostrophe', () => {
  const stems = ['ankara', 'atatürk'].map((name) => stemIn('tr', name) ?? '');
  assert.deepEqual(highlighted("Ankara'da, Atatürk’ün evi", stems, 'tr'), ["Ankara'da", 'Atatürk’ün']);
});
