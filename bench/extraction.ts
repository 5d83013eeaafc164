/**
 * How well articles are extracted: 91 news and blog pages whose text was marked up by people (../shared/data/html), scored by
 * 4-token shingles, beside plain linkedom and Readability over the same pages in the same run. Rules may be chosen by looking at
 * the half called `chosen_on`; `held_out` says what they are worth. Prints JSON.
 *
 *   npm run bench -- extraction [--pages]     --pages: each page's scores of the half that rules are chosen on, too
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { extractHtml } from '../src/compute/extraction/extract-html.ts';
import { lostBlocks, meanScore, type PageScore, scorePage } from './extraction/score.ts';
import { describeMachine } from './machine.ts';

interface Labelled {
  file: string;
  url: string;
  articleBody: string;
}

const folder = join(import.meta.dirname, '../../shared/data/html');
if (!existsSync(folder)) throw new Error(`the pages are not there: ${folder}`);
const { values } = parseArgs({ options: { pages: { type: 'boolean', default: false } } });

/** Fixed: the lowest bit of the first byte of the SHA-256 of the file's name. */
const isHeldOut = (file: string): boolean => (createHash('sha256').update(file).digest()[0] & 1) === 1;

type Extractor = (html: string, url: string) => string;
const extractors: Record<string, Extractor> = {
  plain: (html) => new Readability(parseHTML(html).document).parse()?.textContent ?? '',
  ours: (html, url) => extractHtml(html, url).text,
};

const labelled: Labelled[] = readFileSync(join(folder, 'ground-truth.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const pages = labelled.map((page) => ({
  ...page,
  html: gunzipSync(readFileSync(join(folder, page.file))).toString('utf8'),
  heldOut: isHeldOut(page.file),
}));

/** Once for each page, so that the compiler has seen the code, then measured. */
function run(extract: Extractor) {
  for (const { html, url } of pages) extract(html, url);
  const times: number[] = [];
  const lost: string[] = [];
  const scores = pages.map(({ html, url, articleBody, heldOut, file }) => {
    const began = performance.now();
    const text = extract(html, url);
    times.push(performance.now() - began);
    lost.push(...lostBlocks(articleBody, text));
    return { file, heldOut, ...scorePage(articleBody, text) };
  });
  times.sort((a, b) => a - b);
  const of = (which: (page: { heldOut: boolean }) => boolean) => rounded(meanScore(scores.filter(which)));
  return {
    all: of(() => true),
    chosen_on: of(({ heldOut }) => !heldOut),
    held_out: of(({ heldOut }) => heldOut),
    /** Paragraphs of more than 200 characters of which less than half was found. */
    lost_blocks: lost.length,
    ms_per_page: round(times.reduce((sum, ms) => sum + ms, 0) / times.length),
    ms_median: round(times[Math.floor(times.length / 2)]),
    ms_worst: round(times[times.length - 1]),
    ...(values.pages ? { pages: scores.filter(({ heldOut }) => !heldOut).map(rounded) } : {}),
  };
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function rounded<Numbers extends PageScore>(numbers: Numbers): Numbers {
  return Object.fromEntries(
    Object.entries(numbers).map(([key, value]) => [key, typeof value === 'number' ? round(value) : value]),
  ) as Numbers;
}

const results = Object.fromEntries(Object.entries(extractors).map(([name, extract]) => [name, run(extract)]));
const report = {
  pages: pages.length,
  seed: 'SHA-256 of the file name, lowest bit of the first byte: 1 is held out',
  measure: 'shingles of 4 word tokens; F1 of mean precision and mean recall',
  ...results,
  machine: describeMachine(),
};
console.log(JSON.stringify(report, null, 2));
