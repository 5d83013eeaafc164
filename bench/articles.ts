/**
 * Extraction beside other programs, on the same pages: three public collections that marked what is to be read. They are cloned
 * into one folder; nothing of them is in this project. Prints JSON.
 *
 *   npm run bench -- articles --folder FOLDER [--half seen|unseen] [--collection marked|segments|kinds] [--systems ours,plain]
 *     [--peers FOLDER] [--every N] [--texts FILE]        also --collection facts
 *
 * FOLDER has clones of scrapinghub/article-extraction-benchmark (`marked`: whole texts, shingles of four words), adbar/trafilatura
 * (`segments`: passages that must and must not be there, counted over all pages) and Murrough-Foley/web-content-extraction-benchmark
 * (`kinds`: seven kinds of pages, words, mean of each page's F1). Rules may be chosen on the half `seen`; of `unseen` only the sums
 * are looked at. `facts` are what pages say of themselves, scored by bench/articles/facts.ts: it needs clones of mozilla/readability,
 * postlight/parser, flairNLP/fundus and adbar/htmldate, named by their last parts. `--peers`: a folder where `npm i defuddle html-to-text` was called. `--every N`: every N-th page. `--texts`: what
 * each system found on each seen page, as lines of JSON.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { extractHtml } from '../src/compute/extraction/extract-html.ts';
import { parsePage } from '../src/compute/extraction/parse-page.ts';
import { readableText } from '../src/compute/extraction/readable-text.ts';
import { decodeText } from '../src/compute/text/decode-text.ts';
import { factNames, factPages, judgeFacts, type PageFacts } from './articles/facts.ts';
import { meanScore, scorePage } from './extraction/score.ts';
import { describeMachine } from './machine.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    half: { type: 'string', default: 'unseen' },
    collection: { type: 'string' },
    systems: { type: 'string' },
    peers: { type: 'string' },
    every: { type: 'string', default: '1' },
    texts: { type: 'string' },
  },
});
if (values.folder === undefined) throw new Error('--folder: where the collections are cloned');
const folder = values.folder;

interface Page {
  name: string;
  url: string;
  /** Of page, where the collection tells several apart. */
  kind: string;
  isSeen: boolean;
  read: () => string;
  body: string;
  must: string[];
  mustNot: string[];
}

/** The lowest bit of the first byte of the SHA-256 of the name. */
const bitOf = (name: string): number => createHash('sha256').update(name).digest()[0] & 1;
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const unpacked = (path: string) => () => decodeText(gunzipSync(readFileSync(path)), null, true).text;

function markedPages(): Page[] {
  const at = join(folder, 'article-extraction-benchmark');
  const known = join(import.meta.dirname, '../../shared/data/html');
  const pages: Record<string, { url: string; articleBody: string }> = json(join(at, 'ground-truth.json'));
  return Object.entries(pages).map(([name, { url, articleBody }]) => ({
    name,
    url,
    kind: 'article',
    isSeen: existsSync(join(known, `${name.slice(0, 16)}.html.gz`)),
    read: unpacked(join(at, 'html', `${name}.html.gz`)),
    body: articleBody,
    must: [],
    mustNot: [],
  }));
}

function segmentPages(): Page[] {
  const at = join(folder, 'trafilatura/tests');
  const pages: Record<string, { file: string; with: string[]; without: string[] }> = json(join(at, 'evaldata.json'));
  return Object.entries(pages).map(([url, { file, with: must, without: mustNot }]) => {
    const path = [join(at, 'cache', file), join(at, 'eval', file)].find(existsSync);
    if (path === undefined) throw new Error(`a page is missing: ${file}`);
    const read = () => decodeText(readFileSync(path), null, true).text;
    return { name: file, url, kind: 'article', isSeen: bitOf(file) === 0, read, body: '', must, mustNot };
  });
}

function kindPages(): Page[] {
  const at = join(folder, 'web-content-extraction-benchmark');
  return ['dev', 'test'].flatMap((part) =>
    readdirSync(join(at, part, 'ground-truth')).flatMap((file): Page[] => {
      const name = file.replace('.json', '');
      // The other half of `dev` is left for later.
      if (part === 'dev' && bitOf(name) === 1) return [];
      const { url, _internal, ground_truth: truth } = json(join(at, part, 'ground-truth', file));
      return [
        {
          name,
          url,
          kind: _internal.page_type.primary === 'category' ? 'collection' : _internal.page_type.primary,
          isSeen: part === 'dev',
          read: unpacked(join(at, part, 'html', `${name}.html.gz`)),
          body: truth.main_content ?? '',
          must: truth.with ?? [],
          mustNot: truth.without ?? [],
        },
      ];
    }),
  );
}

type Extractor = (html: string, url: string) => string | Promise<string>;
const written = (html: string, url: string): string => readableText(parsePage(html, url).root).text;
const extractors: Record<string, Extractor> = {
  ours: (html, url) => extractHtml(html, url).text,
  plain: (html) => new Readability(parseHTML(html).document).parse()?.textContent ?? '',
};
type FactReader = (html: string, url: string) => PageFacts | Promise<PageFacts>;
const factReaders: Record<string, FactReader> = {
  ours: extractHtml,
  plain: (html) => {
    const article = new Readability(parseHTML(html).document).parse();
    const { title, byline: author, publishedTime: published_at, lang, siteName: site_name } = article ?? {};
    return { title, author, published_at, lang, site_name };
  },
};

if (values.peers !== undefined) {
  const load = createRequire(join(values.peers, 'package.json'));
  const { Defuddle } = load(join(values.peers, 'node_modules/defuddle/dist/node.js'));
  const { convert } = load('html-to-text');
  extractors.defuddle = async (html, url) =>
    written((await Defuddle(html, url, { useAsync: false })).content ?? '', url);
  factReaders.defuddle = async (html, url) => {
    const {
      title,
      author,
      published: published_at,
      language: lang,
      site: site_name,
      image,
    } = await Defuddle(html, url, {
      useAsync: false,
    });
    return { title, author, published_at, lang, site_name, image };
  };
  extractors.html_to_text = (html) => convert(html, { wordwrap: false });
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
const f1Of = (precision: number, recall: number): number =>
  precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);

function segmentScore(found: readonly { page: Page; text: string }[]) {
  let kept = 0;
  let all = 0;
  let wrong = 0;
  for (const { page, text } of found) {
    const whole = plain(text);
    all += page.must.length;
    kept += page.must.filter((each) => whole.includes(plain(each))).length;
    wrong += page.mustNot.filter((each) => whole.includes(plain(each))).length;
  }
  const precision = kept / Math.max(1, kept + wrong);
  const recall = kept / Math.max(1, all);
  return { precision, recall, f1: f1Of(precision, recall), pages: found.length };
}

function wordScore(expected: string, text: string): number {
  const words = (each: string) => each.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const gold = words(expected);
  const got = words(text);
  if (gold.length === 0 || got.length === 0) return gold.length === got.length ? 1 : 0;
  const counts = new Map<string, number>();
  for (const word of gold) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of got) {
    const left = counts.get(word) ?? 0;
    if (left > 0) common++;
    counts.set(word, left - 1);
  }
  return f1Of(common / got.length, common / gold.length);
}

type Found = { page: Page; text: string };
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
const collections: Record<string, { pages: () => Page[]; score: (found: Found[]) => Record<string, number | object> }> =
  {
    marked: {
      pages: markedPages,
      score: (found) => ({ ...meanScore(found.map(({ page, text }) => scorePage(page.body, text))) }),
    },
    segments: { pages: segmentPages, score: segmentScore },
    kinds: {
      pages: kindPages,
      score: (found) => ({
        f1: mean(found.map(({ page, text }) => wordScore(page.body, text))),
        pages: found.length,
        kinds: Object.fromEntries(
          [...new Set(found.map(({ page }) => page.kind))].sort().map((kind) => {
            const those = found.filter(({ page }) => page.kind === kind);
            return [kind, round(mean(those.map(({ page, text }) => wordScore(page.body, text))))];
          }),
        ),
      }),
    },
  };

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Of each fact how many are expected, and what part of them is right, wrong and missing: for each collection and for all. */
async function scoreFacts(): Promise<void> {
  const half = factPages(folder)
    .map((page) => ({ ...page, isSeen: bitOf(page.name) === 0 }))
    .filter(({ isSeen }) => isSeen === (values.half === 'seen'))
    .filter((_, index) => index % every === 0);
  for (const [system, read] of Object.entries(factReaders)) {
    if (!wanted.includes(system)) continue;
    const counts: Record<string, Record<string, Record<string, number>>> = {};
    for (const page of half) {
      const found = await Promise.resolve()
        .then(() => read(page.read(), page.url))
        .catch((): PageFacts => ({}));
      const verdicts = judgeFacts(page, found);
      for (const collection of [page.collection, 'all']) {
        for (const name of factNames) {
          const verdict = verdicts[name];
          if (verdict === undefined) continue;
          counts[collection] ??= {};
          counts[collection][name] ??= { expected: 0, right: 0, wrong: 0, missing: 0 };
          counts[collection][name].expected++;
          counts[collection][name][verdict]++;
        }
      }
      if (values.texts !== undefined && page.isSeen) {
        const { collection, name, url, expected } = page;
        lines.push(
          JSON.stringify({
            collection,
            system,
            name,
            url,
            verdicts,
            expected,
            found: { ...found, text: '', sections: [] },
          }),
        );
      }
    }
    report.facts = { ...report.facts, [system]: counts };
  }
}

const wanted = values.systems?.split(',') ?? Object.keys(extractors);
const every = Number(values.every);
const report: Record<string, Record<string, object>> = {};
const lines: string[] = [];
for (const [name, { pages, score }] of Object.entries(collections)) {
  if (values.collection !== undefined && !values.collection.split(',').includes(name)) continue;
  const half = pages()
    .filter(({ isSeen }) => isSeen === (values.half === 'seen'))
    .filter((_, index) => index % every === 0);
  report[name] = {};
  const found = new Map<string, Found[]>(wanted.map((system) => [system, []]));
  const times = new Map<string, number>();
  const failed = new Map<string, number>();
  for (const page of half) {
    const html = page.read();
    for (const system of wanted) {
      const began = performance.now();
      let text = '';
      try {
        text = await extractors[system](html, page.url);
      } catch {
        failed.set(system, (failed.get(system) ?? 0) + 1);
      }
      times.set(system, (times.get(system) ?? 0) + performance.now() - began);
      found.get(system)?.push({ page, text });
      if (values.texts !== undefined && page.isSeen)
        lines.push(
          JSON.stringify({
            collection: name,
            system,
            name: page.name,
            kind: page.kind,
            url: page.url,
            text,
            body: page.body,
            must: page.must,
            mustNot: page.mustNot,
          }),
        );
    }
  }
  for (const system of wanted) {
    const numbers = Object.entries(score(found.get(system) ?? []));
    report[name][system] = {
      ...Object.fromEntries(numbers.map(([key, value]) => [key, typeof value === 'number' ? round(value) : value])),
      failed: failed.get(system) ?? 0,
      ms_per_page: round((times.get(system) ?? 0) / Math.max(1, half.length)),
    };
  }
}
if (values.collection === undefined || values.collection.split(',').includes('facts')) await scoreFacts();
if (values.texts !== undefined) writeFileSync(values.texts, `${lines.join('\n')}\n`);
console.log(
  JSON.stringify(
    {
      half: values.half,
      seed: 'SHA-256 of the name, lowest bit of the first byte',
      ...report,
      machine: describeMachine(),
    },
    null,
    2,
  ),
);
