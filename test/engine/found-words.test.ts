/** How words are found: pages prepared, searched and highlighted by the engine's own parts, in one thread. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTextAnalyzer } from '../../src/compute/text/analyze-text.ts';
import { factsText } from '../../src/compute/text/facts-text.ts';
import { loadDetectors } from '../../src/compute/text/page-languages.ts';
import { createRuleTokenizer } from '../../src/compute/text/rule-tokenizer.ts';
import { porterStem } from '../../src/compute/text/stemmers.ts';
import type { WordClause } from '../../src/domain/query-clause.ts';
import { createQueryAnalyzer } from '../../src/engine/analyze-query.ts';
import { createHighlighter } from '../../src/engine/highlight.ts';
import { openPageTools, type PageText, preparePages } from '../../src/engine/prepare-page.ts';
import { retrieve } from '../../src/engine/retrieve.ts';
import { labelsMatching } from '../../src/engine/words/labels-matching.ts';
import { languageOfLabel } from '../../src/engine/words/languages.ts';
import { createScratch } from '../../src/engine/words/search-segments.ts';
import { createDeletions, openSegment } from '../../src/engine/words/segment.ts';
import { SparseSearcher } from '../../src/engine/words/sparse-searcher.ts';
import { wordsIn } from '../../src/engine/words/spelling.ts';

await loadDetectors();
const tools = openPageTools({ target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 });
const analyzer = createTextAnalyzer(createRuleTokenizer);
const analyze = createQueryAnalyzer(analyzer);
const highlighter = createHighlighter(porterStem, analyzer);

type Text = string | (Partial<PageText> & { text: string });

/** One page for each text; what a query finds is what is highlighted in each page that it finds, by the page's place, best first. */
function library(texts: readonly Text[]) {
  const pages = texts.map((each) => ({
    title: null,
    sections: [],
    ...(typeof each === 'string' ? { text: each } : each),
  }));
  const { segment } = preparePages(tools, pages);
  const searcher = new SparseSearcher(createScratch(), null);
  const deletions = createDeletions(openSegment(segment).docs).buffer;
  searcher.publish({ ids: [0], added: [{ id: 0, segment, deletions }] });
  const corpus = searcher.corpus ?? [];
  return {
    find(query: string): [page: number, highlights: string[]][] {
      const { forms } = analyze({ query }, wordsIn(corpus));
      const { labels } = searcher.search({ terms: forms, k: 100 });
      const stems = forms.filter(({ of }) => of >= 0).map(({ stem }) => stem);
      return Array.from(labels, (label) => {
        const { text } = pages[label];
        const [{ highlights }] = highlighter.mark([{ text, language: languageOfLabel(corpus, label) }], stems);
        return [label, highlights.map(({ start, end }) => text.slice(start, end))];
      });
    },
    covered(query: string): number[] {
      const { forms } = analyze({ query }, wordsIn(corpus));
      return [...searcher.search({ terms: forms, k: 100 }).covered];
    },
    retrieved: (query: string) =>
      retrieve(
        { sparse: searcher, analyze, rows: null },
        { query, prefix: false, spelling: true, k: 100, vectors: null, relevance: false, sketches: true },
      ),
    matching: (clause: WordClause) => [...labelsMatching(corpus, analyzer, clause)],
  };
}

const pagesOf = (found: readonly [page: number, highlights: string[]][]) =>
  found.map(([page]) => page).sort((a, b) => a - b);

test('a word is found and highlighted in every spelling: joined, hyphenated and split', () => {
  const rows: [spellings: readonly string[], queries?: readonly string[]][] = [
    [['wifi', 'Wi-Fi', 'wi fi', 'WiFi', 'Ｗｉｆｉ', 'Wi‑Fi']],
    [['email', 'e-mail', 'E-Mail', 'Email']],
    [['GPT-4', 'gpt4', 'gpt 4', 'ＧＰＴ４']],
    [['ISO 8601', 'ISO8601', 'ISO-8601']],
    [['javascript', 'java script', 'Java-Script']],
    [['database', 'data base', 'data-base']],
    [['веб-сайт', 'вебсайт', 'веб сайт']],
    [['ιστοσελίδα', 'ιστο-σελίδα']],
    [['тв-шоу', 'твшоу']],
    [['COVID-19', 'covid19', 'COVID 19']],
  ];
  for (const [spellings, queries = spellings] of rows) {
    const { find } = library([...spellings.map((each) => `The old mill has ${each} again.`), 'Nothing of it.']);
    const all = [...spellings.keys()];
    for (const query of queries) {
      const found = find(query);
      assert.deepEqual(pagesOf(found), all, query);
      const letters = (spelling: string) => spelling.replace(/[\s-]/g, '');
      for (const [page, highlights] of found)
        assert.equal(letters(highlights.join('')), letters(spellings[page]), `${query}: ${page}`);
    }
  }
});
test('a word is found wherever it stands, in the form that is written', () => {
  const rows: [text: string, query: string, highlights: string[]][] = [
    ['A party🎉tonight and 🎉party', 'party', ['party', 'party']],
    ['使用iPhone手机拍照', 'iphone', ['iPhone']],
    ['使用iPhone手机拍照', '手机', ['手机']],
    ['東京のWi-Fi環境', 'wifi', ['Wi-Fi']],
    ['ภาษาไทยWi-Fiดี', 'wi fi', ['Wi', 'Fi']],
    ['한국어Linux배포판', 'linux', ['Linux']],
    ['Ｗｉ－Ｆｉ', 'wifi', ['Ｗｉ－Ｆｉ']],
    ['Ｆｕｌｌ　Ｗｉｄｔｈ　１２３', 'full width 123', ['Ｆｕｌｌ', 'Ｗｉｄｔｈ', '１２３']],
    ['データと、ﾃﾞｰﾀ', 'データ', ['データ', 'ﾃﾞｰﾀ']],
    ['データと、ﾃﾞｰﾀ', 'ﾃﾞｰﾀ', ['データ', 'ﾃﾞｰﾀ']],
    ['ﬁnance oﬃce', 'finance office', ['ﬁnance', 'oﬃce']],
    ['Он сказал «Война и мир»', 'война', ['Война']],
    ['Das „Schloss“ am See', 'schloss', ['Schloss']],
    ['le «château» rouge', 'chateau', ['château']],
    ['l’email de Jean', 'e-mail', ['email']],
    ['Tim O’Reilly', "o'reilly", ['O’Reilly']],
    ['Tim O’Reilly', 'oreilly', ['O’Reilly']],
    ['the dog’s bowl', "dog's", ['dog']],
  ];
  for (const [text, query, highlights] of rows)
    assert.deepEqual(library([text, 'Nothing 其他 другое']).find(query), [[0, highlights]], `${query}: ${text}`);
});

test('words that only sound like parts are not taken for spellings; another spelling covers the query; phrases are exact', () => {
  const { find, covered, matching } = library([
    'They were not able to come by car with a pet.',
    'The Wi-Fi of the mill.',
    'The wifi of the mill.',
    'A wi and a fi.',
  ]);
  assert.deepEqual(find('notable'), []);
  assert.deepEqual(find('carpet'), []);
  assert.deepEqual(pagesOf(find('wifi')), [1, 2]);
  assert.deepEqual(find('wifi')[0], [2, ['wifi']], 'the spelling of the query comes first');
  assert.deepEqual(covered('wifi'), [1, 1]);
  assert.deepEqual(covered('wi fi'), [1, 1, 1]);
  assert.deepEqual(matching({ in: 'phrase', text: 'wifi' }), [2]);
  assert.deepEqual(matching({ in: 'phrase', text: 'Wi-Fi' }), [1]);
  assert.deepEqual(matching({ in: 'word', text: 'wifi' }), [1, 2]);
});

test('an irregular form is found and highlighted by the others, in other languages as their stemmers have them', () => {
  const rows: [forms: readonly string[], declared?: string][] = [
    [['mouse', 'mice']],
    [['goose', 'geese', "Goose's"]],
    [['wolf', 'wolves']],
    [['knife', 'knives']],
    [['child', 'children', 'Children’s']],
    [['go', 'went', 'gone', 'going']],
    [['good', 'better']],
    [['criterion', 'criteria']],
    [['Haus', 'Häuser', 'Häusern'], 'de'],
    [['книга', 'книги', 'книгу'], 'ru'],
    [['δρόμος', 'δρόμου'], 'el'],
  ];
  const frames: Record<string, (form: string) => string> = {
    en: (form) => `Near the old mill: ${form} again, as in autumn.`,
    de: (form) => `Gestern haben wir dort ${form} gesehen, und es war nicht sehr schön.`,
    ru: (form) => `Вчера мы видели там ${form}, и это было не очень хорошо.`,
    el: (form) => `Χθες είδαμε εκεί ${form} και δεν ήταν πολύ ωραία.`,
  };
  for (const [forms, declared = 'en'] of rows) {
    const texts = [...forms, 'wheel'].map((form) => ({ text: frames[declared](form), declared }));
    const { find } = library(texts);
    for (const query of forms) {
      const found = find(query);
      assert.deepEqual(pagesOf(found), [...forms.keys()], query);
      for (const [page, highlights] of found) assert.deepEqual(highlights, [forms[page].replace(/['’]s$/, '')], query);
    }
  }
});

test('words of code, versions and mail addresses are found whole and by part', () => {
  const rows: [text: string, found: Record<string, string[]>, missed?: string[]][] = [
    [
      'calls getUserName here',
      { user: ['User'], 'user name': ['User', 'Name'], getUserName: ['getUserName'] },
      ['username'],
    ],
    ['calls get_user_name here', { getUserName: ['get_user_name'], user: ['user'] }],
    ['an XMLHttpRequest is sent', { http: ['Http'], request: ['Request'], 'xml request': ['XML', 'Request'] }],
    ['call HttpClient.send() now', { client: ['Client'], HttpClient: ['HttpClient'] }],
    ['JavaScript is a language', { javascript: ['JavaScript'] }, ['script']],
    [
      'the file quarterly_report-v2.pdf is there',
      { quarterly: ['quarterly'], 'quarterly_report-v2.pdf': ['quarterly', 'report', 'v2', 'pdf'] },
    ],
    ['since version 1.2.3 of it', { '1.2': ['1.2'], '1.2.3': ['1.2.3'] }, ['1', '1.2.4', '1.23']],
    ['since version 1.23 of it', { '1.23': ['1.23'] }, ['1.2']],
    ['built on v3.11.4', { '3.11': ['3.11'], 'v3.11.4': ['v', '3.11.4'] }],
    ['made with .NET there', { '.net': ['.NET'], net: ['NET'] }],
    ['written in C++ and C#', { 'c++': ['C++'], 'c#': ['C#'] }, ['c']],
    ['runs on node.js now', { 'node.js': ['node', 'js'], nodejs: ['node.js'], node: ['node'] }],
    [
      'mail to Jane.Doe@example.org please',
      { 'jane.doe@example.org': ['Jane.Doe@example.org'], doe: ['Doe'], example: ['example'] },
    ],
    ['функция получитьИмяФайла тут', { файла: ['Файла'] }],
  ];
  for (const [text, found, missed = []] of rows) {
    const { find } = library([text, 'Nothing of it.']);
    for (const [query, highlights] of Object.entries(found)) {
      const [[page, marked] = []] = find(query);
      assert.deepEqual([page, marked?.join(' ')], [0, highlights.join(' ')], `${query}: ${text}`);
    }
    for (const query of missed) assert.deepEqual(find(query), [], `${query}: ${text}`);
  }
});

test('a page is found by its own spelling before others, by the words of its address after titles, and by its beginning', () => {
  const page = (canonical_url: string, title: string, text: string): Text => {
    const { hostname: domain } = new URL(canonical_url);
    return { title, text, address: canonical_url, facts: factsText({ canonical_url, domain, title, metadata: null }) };
  };
  const { find, matching } = library([
    page('https://kb.acme.org/billing/dunning-levels-2024', 'Questions', 'When is a reminder sent? After ten days.'),
    page('https://kb.acme.org/hr/holidays', 'Holidays', 'Everybody has thirty days.'),
    page('https://news.example.com/a', 'Billing explained', 'It takes a while.'),
    page('https://пример.рф/новости/выборы', 'Сегодня', 'Текст о погоде и о море.'),
    page('https://asp.example.com/b', 'Frameworks', 'The .NET framework.'),
    page('https://sea.example.com/c', 'Fishing', 'A net for fish.'),
  ]);
  const rows: [query: string, pages: number[]][] = [
    ['dunning levels', [0]],
    ['billing', [2, 0]],
    ['выборы', [3]],
    ['.net', [4, 5]],
  ];
  for (const [query, pages] of rows)
    assert.equal(
      find(query)
        .map(([each]) => each)
        .join(),
      pages.join(),
      query,
    );
  const first: [query: string, page: number][] = [
    ['kb.acme.org/billing', 0],
    ['https://kb.acme.org/billing/', 0],
    ['https://www.kb.acme.org/hr', 1],
    ['kb.acme.org/billing/dunning-levels-2024?utm_source=x', 0],
    ['пример.рф/новости', 3],
  ];
  for (const [query, expected] of first) assert.equal(find(query)[0]?.[0], expected, query);
  assert.deepEqual(pagesOf(find('kb.acme.org').slice(0, 2)), [0, 1]);
  assert.deepEqual(matching({ in: 'word', text: 'billing' }), [2], 'a word of the path excludes nothing');
});

test('a name with a small first letter has no parts', () => {
  const { find } = library(['The iPhone rang.', 'A phone rang.', 'getUserName() is called.']);
  assert.deepEqual(pagesOf(find('phone')), [1]);
  assert.deepEqual(pagesOf(find('iphone')), [0]);
  assert.deepEqual(pagesOf(find('user name')), [2]);
});

test('neighbours in the query rank pages first where they are neighbours, also function words', async () => {
  const rows: [query: string, near: string, ...others: string[]][] = [
    [
      'town hall',
      'On Monday they met at the town hall and spoke about roads.',
      'The hall of the school is far from the town on the hill.',
    ],
    [
      'history of art',
      'Next year she will study history and art in another city.',
      'Art has no end and no beginning, as history does have one.',
    ],
    [
      'the who',
      `We heard the Who play, ${'and then they went home late in the rain '.repeat(8)}`,
      ...Array.from({ length: 120 }, (_, no) => `Who is the man who knows the woman who has the key ${no}?`),
    ],
    [
      'to be or not to be',
      `He said to be or not to be, ${'and then they went home late in the rain '.repeat(8)}`,
      ...Array.from({ length: 120 }, (_, no) => `Not to go or to stay is not to be, or to be it ${no}.`),
    ],
    [
      'белая ночь',
      'Над рекой стояла белая ночь, и по мосту шли люди.',
      'Ночь была тёмной, а на столе лежала белая бумага.',
    ],
    ['清水寺', '昨日は清水寺へ行きました。とても楽しかった。', '清水を飲む。水寺という名の人に会いました。楽しい。'],
  ];
  for (const [query, ...texts] of rows) {
    const { retrieved } = library([...texts.slice(1), texts[0]]);
    assert.equal((await retrieved(query)).sparse.labels[0], texts.length - 1, query);
  }
});

test('pages that a query names are told by their title or by four words in a row', async () => {
  const { retrieved } = library([
    { title: 'Town Hall: opening hours', text: 'It is open on Monday.' },
    { title: 'Opening', text: 'The hours of the town hall, opening hours of the school.' },
    { title: 'Стихи', text: 'Мороз и солнце, день чудесный! Ещё ты дремлешь, друг прелестный.' },
    { title: '春の詩', text: '吾輩は猫である。名前はまだ無い。' },
    { title: '清水寺・京都', text: '音羽山の中腹にある。' },
  ]);
  const rows: [query: string, titled: number[], verbatim: number[]][] = [
    ['town hall – opening hours', [0], [0, 1]],
    ['town hall opening', [], []],
    ['hall town opening hours', [], []],
    ['мороз и солнце день чудесный', [], [2]],
    ['стихи', [2], []],
    ['吾輩は猫である', [], []],
    ['吾輩は猫である名前は', [], [3]],
    ['春の詩', [3], []],
    ['清水寺 京都', [4], []],
  ];
  for (const [query, titled, verbatim] of rows) {
    const named = await retrieved(query);
    assert.deepEqual([named.titled, named.verbatim.sort()], [titled, verbatim], query);
  }
});

test('only pages with a nearly equal text have sketches, short and empty ones too', async () => {
  const text = 'The grey heron waits at the river for the fish to come by in the morning. '.repeat(10);
  const { retrieved } = library([
    { title: 'A heron', text },
    { title: 'Heron', text: text.replace('grey', 'white') },
    { title: 'Short heron', text: 'A heron waits.' },
    { title: 'Other heron', text: 'A heron waits.' },
    { title: 'Only a heron', text: '' },
    { title: 'Only a heron', text: '' },
    { title: 'Alone', text: 'This heron flies away over the wide meadows at night.' },
  ]);
  const { sketches } = await retrieved('heron');
  const words = [...sketches].map(([label, { words }]) => `${label}: ${words}`).sort();
  assert.deepEqual(words, ['0: 160', '1: 160', '2: 3', '3: 3', '4: 0', '5: 0']);
});
