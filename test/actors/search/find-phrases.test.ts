/**
 * Quoted phrases: a page holds a phrase exactly when it stands in its title or text, whatever borders of chunks go through it; and
 * finding that out costs some passages, not the text. Real texts, chunks, postings and store; no threads.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { phraseFinder } from '../../../src/actors/search/find-phrases.ts';
import { quotingPages } from '../../../src/actors/search/pages-of-clauses.ts';
import { foldPhrase } from '../../../src/compute/ranking/exact-query.ts';
import { createTextAnalyzer } from '../../../src/compute/text/analyze-text.ts';
import { loadDetectors } from '../../../src/compute/text/page-languages.ts';
import { createRuleTokenizer } from '../../../src/compute/text/rule-tokenizer.ts';
import { createWinkTokenizer } from '../../../src/compute/text/wink-tokenizer.ts';
import { preparePages } from '../../../src/engine/prepare-page.ts';
import { type CorpusSegment, corpusSegment } from '../../../src/engine/words/corpus.ts';
import { labelsMatching } from '../../../src/engine/words/labels-matching.ts';
import { createDeletions, labelSegment, openSegment } from '../../../src/engine/words/segment.ts';
import { pageRow } from '../../machines/rows.ts';
import { CountedReads } from '../../store/counted-reads.ts';
import { TemporaryStore } from '../../store/temporary-store.ts';

interface Text {
  title: string;
  text: string;
  sections: { char_start: number; title: string }[];
}

const queryAnalyzer = createTextAnalyzer(createRuleTokenizer);
await loadDetectors();
const tools = {
  analyzer: createTextAnalyzer(createWinkTokenizer),
  embedder: null,
  chunking: { target_tokens: 12, overlap_tokens: 3, hard_max_tokens: 16 },
};

/** A store with these pages, and the index of their chunks in two segments. */
class Pages implements AsyncDisposable {
  readonly temporary: TemporaryStore;
  readonly counted: CountedReads;
  readonly #corpus: CorpusSegment[];
  /** Passages that the index named. */
  named = 0;

  private constructor(temporary: TemporaryStore, corpus: CorpusSegment[]) {
    this.temporary = temporary;
    this.#corpus = corpus;
    this.counted = CountedReads.open(temporary.path);
  }

  static async of(texts: readonly Text[], chunking = tools.chunking): Promise<Pages> {
    const temporary = await TemporaryStore.open();
    const corpus: CorpusSegment[] = [];
    let label = 1;
    const half = Math.ceil(texts.length / 2);
    for (const [id, part] of [texts.slice(0, half), texts.slice(half)].entries()) {
      const { chunks, segment } = preparePages({ ...tools, chunking }, part);
      const first = label;
      await temporary.commit(({ pages }) => {
        for (const [at, { title, text, sections }] of part.entries()) {
          const no = 1 + at + id * half;
          const range = { first_label: label, chunk_count: chunks[at].length };
          pages.put(pageRow({ no, canonical_url: `https://example.com/${no}`, title, ...range }), undefined);
          pages.putBody(no, text, sections);
          pages.putChunks(no, chunks[at]);
          label += range.chunk_count;
        }
      });
      const opened = openSegment(segment);
      labelSegment(
        opened,
        Uint32Array.from({ length: label - first }, (_, at) => first + at),
      );
      corpus.push(corpusSegment(id, opened, createDeletions(opened.docs)));
    }
    return new Pages(temporary, corpus);
  }

  /** Which of the pages hold the phrases, best page first. */
  async holding(phrases: readonly string[], pageNos: readonly number[]): Promise<number[]> {
    const { reader } = this.counted;
    const labels = phrases.map((text) => labelsMatching(this.#corpus, queryAnalyzer, { in: 'phrase', text }));
    this.named = labels.reduce((sum, { length }) => sum + length, 0);
    const labelsOf = (no: number) => {
      const page = reader.pages.head(no);
      return { first: page?.first_label ?? 0, count: page?.chunk_count ?? 0 };
    };
    return [...(await phraseFinder(reader)(phrases, quotingPages({ labelsOf }, labels, pageNos), undefined))];
  }

  /** Characters of texts read since the last time. */
  read(): number {
    const { bodies = 0, body_parts = 0 } = this.counted.take();
    return bodies + body_parts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.counted[Symbol.asyncDispose]();
    await this.temporary[Symbol.asyncDispose]();
  }
}

const words =
  `the of and a heron herons grey Grey stands still over water river boats running it's It’s don't cannot Dont U.S. Mr. C++ node.js
  1,299 3.14 covid-19 well-known naïve café STRASSE Straße l'eau 東京の駅 小さな猫が 猫 한국어 แมว ﬁne ½ heron, heron. (heron) "heron" “grey”
  river; e.g. https://example.com/a?b=c zorilla zorillas`.split(/\s+/);
const separators = [' ', ' ', ' ', '  ', '\n', '. ', '\n\n', '\t'];
const someText: fc.Arbitrary<Text> = fc
  .record({
    title: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((each) => each.join(' ')),
    pieces: fc.array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(...separators)), {
      minLength: 20,
      maxLength: 120,
    }),
    sections: fc.array(fc.nat(400), { maxLength: 3 }),
  })
  .map(({ title, pieces, sections }) => {
    const text = pieces.flat().join('');
    const starts = [...new Set(sections.map((at) => at % text.length))].sort((a, b) => a - b);
    return { title, text, sections: starts.map((char_start) => ({ char_start, title: 'heron' })) };
  });

test('every phrase cut out of a text, between white space, is found in it, and in no page that does not have it', async () => {
  const texts = fc.sample(someText, { seed: 44, numRuns: 24 });
  await using pages = await Pages.of(texts);
  const all = texts.map((_, at) => at + 1);
  let cut = 0;
  for (const [at, { text }] of texts.entries()) {
    const stretches = [...text.matchAll(/\S+/g)];
    for (const length of [1, 2, 3, 5, 8, 20]) {
      const from = (cut * 7) % Math.max(1, stretches.length - length);
      const [first, last] = [stretches[from], stretches[Math.min(from + length, stretches.length) - 1]];
      const phrase = text.slice(first.index, last.index + last[0].length);
      const folded = foldPhrase(phrase);
      if (folded === '') continue;
      cut++;
      const holding = await pages.holding([phrase], all);
      assert.ok(holding.includes(at + 1), JSON.stringify({ phrase, page: at + 1, text }));
      const having = all.filter((no) => {
        const { title, text } = texts[no - 1];
        return foldPhrase(title).includes(folded) || foldPhrase(text).includes(folded);
      });
      assert.ok(
        holding.every((no) => having.includes(no)),
        phrase,
      );
      // Whole words: a page with the phrase's letters inside other words is not searched for.
      if (length > 2) assert.deepEqual(holding, having, phrase);
    }
  }
  assert.ok(cut > 100);
});

test('a phrase may stand in the title, and each of several somewhere', async () => {
  const text = 'The grey heron stands still. Boats pass by.';
  await using pages = await Pages.of([
    { title: 'Wading birds', text, sections: [] },
    { title: 'Boats pass', text: 'nothing', sections: [] },
    { title: 'Grey', text: 'the heron', sections: [] },
  ]);
  const found = (...phrases: string[]) => pages.holding(phrases, [3, 2, 1]);
  assert.deepEqual(await found('boats PASS'), [2, 1]);
  assert.deepEqual(await found('grey heron', 'boats pass'), [1]);
  assert.deepEqual(await found('grey heron', 'wading birds'), [1]);
  assert.deepEqual(await found('grey the heron'), []);
  assert.deepEqual(await found('heron grey'), []);
  assert.deepEqual(await found(), []);
  assert.deepEqual(await found('?!'), []);
});

test('finding a phrase in pages of two megabytes reads some passages of each', async () => {
  const chunking = { target_tokens: 448, overlap_tokens: 64, hard_max_tokens: 512 };
  const filler = 'the grey heron and the still water of that river over there. ';
  const sentences = Array.from({ length: 33_000 }, (_, at) => (at % 50 === 0 ? `Herons, ${at} grey. ` : filler));
  const texts = [0, 1, 2].map((no) => {
    const text = sentences.with(20_000 + no, `Here stands zorilla number ${no}. `).join('');
    return { title: 'The heron of that water', text, sections: [] };
  });
  await using pages = await Pages.of(texts, chunking);
  const [{ text }] = texts;
  assert.ok(text.length > 1_900_000);

  assert.deepEqual(await pages.holding(['stands zorilla number'], [1, 2, 3]), [1, 2, 3]);
  assert.equal(pages.named <= 6, true);
  const found = pages.read();
  assert.ok(found <= 3 * 4 * 8000, `${found} characters`);

  assert.deepEqual(await pages.holding(['zorilla number 1'], [1, 2, 3]), [2]);
  assert.ok(pages.read() <= 6 * 4 * 8000);

  // Words of the title, and of nearly every passage, in an order that is nowhere: the index knows.
  assert.deepEqual(await pages.holding(['river that the heron', 'water heron'], [1, 2, 3]), []);
  assert.equal(pages.read(), 0);
});

test('a word of the title is looked for in the passages that have it in their text', async () => {
  const chunking = { target_tokens: 20, overlap_tokens: 0, hard_max_tokens: 24 };
  const filler = 'Still water runs over there, and nothing else is to be seen of it. '.repeat(200);
  const text = `${filler}Once an old zorilla came. ${filler}`;
  await using pages = await Pages.of([{ title: 'Old zorilla tales', text, sections: [] }], chunking);
  assert.deepEqual(await pages.holding(['zorilla came'], [1]), [1]);
  assert.equal(pages.named, 1);
});
