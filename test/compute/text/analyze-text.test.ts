import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AnalyzedText, createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { assertGrowsInProportion } from '../../processor-time.ts';

const analyzer = createTextAnalyzer(createWinkTokenizer);
const longest = 300_000;

function surfaces({ text, starts, ends }: AnalyzedText): string[] {
  return [...starts].map((start, i) => text.slice(start, ends[i]));
}

function sentencesOf(text: string): string[] {
  const { starts, ends, sentenceEnds } = analyzer.analyze(text);
  return [...sentenceEnds].map((end, i) => text.slice(starts[i === 0 ? 0 : sentenceEnds[i - 1]], ends[end - 1]));
}

const words = "Don't CAN’T O'Neill's gonna U.S. e.g. foo.bar covid-19 v3.11.4 -1.5 1,000-2,000 l'eau (a) 3.14 a/b";
const others = [' ', '\n', '\u00a0', '\t', '  ', '\r\n', '\u3000', '東京', 'ไทย', '한국', '\u00ad', '\u200d', 'é'];
const part = fc.oneof(
  fc.constantFrom(...words.split(' ')),
  fc.constantFrom(...others),
  fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
);
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.array(part, { maxLength: 60 }).map((parts) => parts.join('')),
);

test('a tokenizer’s empty token is none', () => {
  const { starts, ends } = analyzer.analyze("see A0..Don't stop");
  assert.ok(starts.every((start, i) => ends[i] > start));
});

test('tokens lie in the text in order, cover every letter and digit, and their words are their text', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const analyzed = analyzer.analyze(text);
      const { starts, ends, costs, terms, words } = analyzed;
      assert.deepEqual([ends.length, costs.length, terms.length], Array(3).fill(starts.length));
      let at = 0;
      let between = '';
      surfaces(analyzed).forEach((surface, i) => {
        assert.ok(starts[i] >= at && ends[i] > starts[i]);
        between += text.slice(at, starts[i]);
        at = ends[i];
        assert.equal(surface, surface.trim());
        const plain = surface.replace(/[\p{Join_C}\u00ad\u2060]/gu, '').replace(/[‘’ʼ＇]/g, "'");
        if (words[i] !== '')
          assert.ok(plain.normalize('NFC').toLowerCase().startsWith(words[i]), `${words[i]}: ${plain}`);
        else assert.ok(!/[\p{L}\p{N}]/u.test(surface), surface);
      });
      assert.ok(!/[\p{L}\p{N}]/u.test(between + text.slice(at)), 'a letter is in no token');
    }),
    { numRuns: 250 },
  );
});

test('sentences are ascending ranges over all tokens', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { starts, sentenceEnds } = analyzer.analyze(text);
      assert.equal(sentenceEnds.at(-1) ?? 0, starts.length);
      sentenceEnds.forEach((end, i) => {
        assert.ok(end > (i === 0 ? 0 : sentenceEnds[i - 1]));
      });
    }),
  );
});

test('a text has the same tokens and terms whatever was analysed before', () => {
  fc.assert(
    fc.property(anyText, anyText, (before, text) => {
      const fresh = createTextAnalyzer(createWinkTokenizer);
      fresh.analyze(before);
      const [seen, unseen] = [analyzer.analyze(text), fresh.analyze(text)];
      assert.deepEqual([seen.starts, seen.ends, seen.costs], [unseen.starts, unseen.ends, unseen.costs]);
      assert.deepEqual([seen.words, seen.stems], [unseen.words, unseen.stems]);
    }),
    { numRuns: 15 },
  );
});

test('sentences end in a text of known words where they end in one of new words', () => {
  const text = 'Dr. Who met Mr. A. B. Smith at 5 p.m. He said "No!" (twice.) Was it 3.5? Yes, e.g. in the U.S. The end';
  const expected = sentencesOf(text);
  assert.ok(expected.length >= 4);
  assert.deepEqual(sentencesOf(text), expected);
  const ordinary = 'These are some quite ordinary words of no interest '.repeat(300);
  assert.deepEqual(sentencesOf(`${ordinary}. ${text}`).slice(1), expected);
});

test('a lexicon that was let go stays valid for what was made with it', () => {
  const small = createTextAnalyzer(createWinkTokenizer);
  const first = small.analyze('An older text.');
  for (let i = 0; i < 160_000; i++) first.lexicon.term(`word${i}`, `word${i}`);
  small.trim();
  const second = small.analyze('An older text.');
  assert.ok(second.lexicon !== first.lexicon);
  assert.deepEqual(second.words, first.words);
});

test('a term of a word does not depend on what is around it', () => {
  const words = "café Straße naïve covid-19 v3.11.4 node.js don't U.S. running Привет 東京 हिन्दी".split(' ');
  const { stems } = analyzer.terms(words.join(' and '));
  const and = analyzer.terms('and').stems;
  const alone = words.flatMap((word, i) => [...(i === 0 ? [] : and), ...analyzer.terms(word).stems]);
  assert.deepEqual(stems, alone);
});

test('words are lower-cased, stems are folded and stemmed, parts of compounds are terms', () => {
  assert.deepEqual(analyzer.terms("Cafés in the U.S. don't sell e-mail, Mr. Smith: 3.14 mp3 x-ray."), {
    words: ['cafés', 'in', 'the', 'u.s.', 'do', "n't", 'sell', 'e', 'mail', 'mr', 'smith', '3.14', 'mp3', 'x', 'ray'],
    stems: ['cafe', 'in', 'the', 'us', 'do', "n't", 'sell', 'e', 'mail', 'mr', 'smith', '3.14', 'mp3', 'x', 'ray'],
  });
});

test('a number with dots or commas is one term, whatever it is written to', () => {
  const cases: Record<string, string[]> = {
    '3.11.4': ['3.11.4'],
    'v3.11.4': ['v', '3.11.4'],
    'V20.11.1,': ['v', '20.11.1'],
    'python3.11.4': ['python', '3.11.4'],
    'python-3.11.4': ['python', '3.11.4'],
    '(v1.2.3-beta.1)': ['v', '1.2.3', 'beta', '1'],
    'v3.11.4rc1': ['v', '3.11.4', 'rc1'],
    '-195.8': ['195.8'],
    '\u2212195.8': ['195.8'],
    '+1.5': ['1.5'],
    '1.2-1.5': ['1.2', '1.5'],
    'GPT-3.5': ['gpt', '3.5'],
    'iOS17.4.1': ['io', '17.4.1'],
    'lodash@4.17.21': ['lodash', '4.17.21'],
    '$1,000.50': ['1000.50'],
    '8,848': ['8848'],
    '-1,299.99': ['1299.99'],
    '1,000-2,000': ['1000', '2000'],
    '1,000/2,000kg': ['1000', '2000', 'kg'],
    'ca.1,299': ['ca', '1299'],
    'CO2,300': ['co2', '300'],
    '-1,200,300,4': ['1', '200', '300', '4'],
    '-12,345,67': ['12', '345', '67'],
    '10.000,50': ['10.000,50'],
    '1,2': ['1,2'],
    '192.168.1.1:8080': ['192.168.1.1:8080'],
    'x1.y2': ['x1', 'y2'],
    '१.२-३': ['१.२', '३'],
    mp3: ['mp3'],
    'covid-19.': ['covid', '19'],
    '2024-05-06': ['2024', '05', '06'],
  };
  for (const [text, stems] of Object.entries(cases)) assert.deepEqual(analyzer.terms(text).stems, stems, text);
});

test('a word behind an elided article is a term of its own', () => {
  const [stem] = analyzer.terms('etranger').stems;
  for (const text of ["l'étranger", 'L’Étranger', "l'e\u0301tranger"]) {
    assert.deepEqual(analyzer.terms(text).stems, ["l'", stem], text);
  }
  assert.equal(analyzer.terms("dell'arte qu'il d'Artagnan’s").stems.join(' '), "dell art qu il d' artagnan 's");
  assert.deepEqual(analyzer.terms("O'Brien").stems, ["o'brien"]);
  const { starts, ends, costs } = analyzer.analyze("Dans l'eau");
  assert.equal([starts, ends, costs].map((column) => column.join()).join(' '), '0,5,7 4,7,10 1,1,0');
});

test('a query has the terms of the text, whether its words are new or known', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const asNew = analyzer.terms(text);
      const { terms, words, stems } = analyzer.analyze(text);
      const isWord = (_: string, at: number) => terms[at] !== 0;
      const inText = { words: words.filter(isWord), stems: stems.filter(isWord) };
      assert.deepEqual(asNew, inText);
      assert.deepEqual(analyzer.terms(text), inText);
    }),
  );
});

test('spellings of one word have one stem', () => {
  for (const group of [
    ['café', 'cafe', 'cafe\u0301', 'CAFÉ'],
    ['straße', 'strasse', 'STRASSE'],
    ['smørrebrød', 'smorrebrod'],
    ['Łódź', 'lodz'],
    ['encyclopædia', 'encyclopaedia'],
    ['ｗｉｄｅ', 'wide'],
    ['in\u00adformation', 'information'],
    ['ёлка', 'елка'],
    ['שָׁלוֹם', 'שלום'],
    ['Žižek', 'zizek'],
    ['İstanbul', 'istanbul'],
    ["it's", 'it’s'],
    ["LONDON'S", "london's"],
  ]) {
    assert.deepEqual(new Set(group.map((word) => analyzer.terms(word).stems.join(' '))).size, 1, group.join(' '));
  }
});

test('words of any spaced script are one token each', () => {
  for (const word of 'Łódź Žižek Việt Привет Ελλάδα हिन्दी עברית العربية ١٢٣ მარგალიტი Հայաստան नमस्ते 𐐷𐐲𐑌'.split(' ')) {
    assert.deepEqual(surfaces(analyzer.analyze(`(${word}), x`)), ['(', word, ')', ',', 'x']);
  }
});

test('the parts of an address are terms', () => {
  assert.deepEqual(analyzer.terms('https://docs.example.com/a_b?page=2 me@example.org #tag').stems, [
    ...['https', 'doc', 'exampl', 'com', 'a', 'b', 'page', '2'],
    ...['me', 'exampl', 'org', 'tag'],
  ]);
});

test('unspaced scripts give one token a character and overlapping pairs as terms', () => {
  const analyzed = analyzer.analyze('東京タワー。日 한국어');
  assert.deepEqual(surfaces(analyzed), [...'東京タワー。日한국어']);
  assert.deepEqual(analyzed.words, [...'東京タワー', '', ...'日한국어']);
  assert.deepEqual(analyzed.stems, ['東京', '京タ', 'タワ', 'ワー', '', '', '日', '한국', '국어', '']);
  assert.deepEqual([...analyzed.costs], Array(10).fill(1));
});

test('Thai, Lao, Khmer and Burmese are cut into words, which cost their characters', () => {
  const analyzed = analyzer.analyze('ประเทศไทยเป็นประเทศ และลาว ປະເທດລາວ');
  assert.deepEqual(surfaces(analyzed), ['ประเทศไทย', 'เป็น', 'ประเทศ', 'และ', 'ลาว', 'ປະເທດ', 'ລາວ']);
  assert.deepEqual(analyzed.stems, [...analyzed.words]);
  assert.deepEqual([...analyzed.costs], [9, 3, 6, 3, 3, 5, 3]);
  const pair = analyzer.analyze('日ไทย日');
  assert.equal([...pair.stems, ...pair.starts].join(), '日,ไทย,日,0,1,4');
});

test('a long text without spaces is cut in linear time', () => {
  const words = (count: number) => analyzer.analyze('ประเทศไทย'.repeat(count)).terms.length;
  assert.ok(words(20_000) >= 20_000);
});

test('a query of two characters or more of a run has only terms of that run', () => {
  const run = '自然言語処理は楽しい';
  const terms = new Set(analyzer.terms(run).stems);
  for (let from = 0; from < run.length; from++) {
    for (let to = from + 2; to <= run.length; to++) {
      for (const stem of analyzer.terms(run.slice(from, to)).stems) assert.ok(stem === '' || terms.has(stem), stem);
    }
  }
});

test('the cost is one a token, parts of one token share its cost, long runs cost a quarter of their length', () => {
  const cost = (text: string) => analyzer.analyze(text).costs.reduce((sum, each) => sum + each, 0);
  assert.equal(cost('Four plain words here'), 4);
  assert.equal(cost('covid-19'), 1);
  assert.equal(cost('v3.11.4'), 5, 'as the tokenizer counts it');
  assert.equal(cost('a'.repeat(32)), 1);
  assert.equal(cost('a'.repeat(33)), 9);
  assert.equal(cost(`https://example.com/${'x'.repeat(60)}`), 20);
  assert.equal(cost('a'.repeat(6400)), 1600);
});

test('sentences end at full stops, blank lines, list items and short lines, not in abbreviations or wrapped prose', () => {
  const wrapped = 'This line of prose was wrapped by its author at seventy\ncolumns, and so was the next one.';
  assert.deepEqual(sentencesOf(`A Heading\n\n${wrapped} Mr. Smith came.\n- one\n- two\n\n東京へ行った。楽しかった`), [
    'A Heading',
    wrapped,
    'Mr. Smith came.',
    '- one',
    '- two',
    '東京へ行った。',
    '楽しかった',
  ]);
});

test('sentences and tokens are the same wherever the text is cut into pieces for the tokenizer', () => {
  const sentence = 'The quick brown fox, who is 3.5 years old, jumps over the lazy dog of Mr. Smith.';
  const { terms, sentenceEnds } = analyzer.analyze(`${sentence} `.repeat(2000));
  const one = analyzer.analyze(sentence);
  assert.equal(sentenceEnds.length, 2000);
  assert.deepEqual(terms.slice(-one.terms.length), one.terms);
  assert.equal(terms.length, 2000 * one.terms.length);
});

test('names of object prototypes are ordinary words', () => {
  const text = 'constructor __proto__ hasOwnProperty constructor-x toString';
  const parts = 'constructor proto hasownproperty constructor x tostring';
  assert.equal(analyzer.terms(text).words.join(' '), parts);
});

test('texts without spaces, of one character, or of broken characters take linear time', () => {
  const unfriendly: Record<string, string> = {
    ...{ letters: 'a', angles: '<', lines: '\n', 'short lines': 'a\n', spaces: ' ', han: '漢', emoji: '🦀' },
    ...{ marks: '\u0301', 'lone surrogates': '\ud800', nul: '\0', amounts: `${'$1'.repeat(60)} `, hyphens: 'a-' },
    addresses: 'http://a.b/',
  };
  for (const [name, unit] of Object.entries(unfriendly)) {
    assertGrowsInProportion(
      longest,
      (length) => unit.repeat(length / unit.length),
      (text) => {
        const { starts, ends } = analyzer.analyze(text);
        for (const [i, start] of starts.entries()) if (ends[i] - start > 128) assert.fail(name);
      },
      name,
    );
  }
});

test('ten million times the same letter is analysed', () => {
  assert.equal(analyzer.analyze('a'.repeat(10_000_000)).terms.length, 156_250);
});

test('a letter with signs is a name of its own', () => {
  const terms = (text: string) => {
    const analyzed = analyzer.analyze(text);
    return surfaces(analyzed).map((surface, i) => `${surface}=${analyzed.stems[i]}`);
  };
  assert.equal(terms('C++20, (c#) and F#.').join(' '), 'C++=c++ 20=20 ,= (= c#=c# )= and=and F#=f# .=');
  assert.deepEqual(analyzer.terms('C c#part C+++ a+b #tag').stems, ['c', 'c', 'part', 'c', 'a', 'b', 'tag']);
  const { costs } = analyzer.analyze('Learn C++ now');
  assert.deepEqual([...costs], [1, 3, 1], 'it counts as the tokens it was joined from');
  for (const text of ['U.S#', 'a.U.S++', "Ct't#", 'c#\u00ad/', '.t#']) {
    const { starts, ends } = analyzer.analyze(text);
    for (const [i, start] of starts.entries()) assert.ok(start >= (ends[i - 1] ?? 0), `tokens of ${text} overlap`);
  }
});
