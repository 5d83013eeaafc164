/** Plain English in pages and sources; links that lead somewhere; the size of the pages. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => name !== '' && !name.startsWith('test/fixtures/') && existsSync(join(root, name)));
const textOf = (name: string) => readFileSync(join(root, name), 'utf8');
/** Programs and what they print are not prose. */
const proseOf = (name: string) => textOf(name).replace(/^```.*?^```$/gms, '');

/** Phrases that a reader has to read twice. */
const banned = [
  /\b(?:whoever|whatever|wherever) (?:it|they|is|was|asks?|has|holds?)\b/i,
  /\b(?:is|are|was|were|be|been) (?:told|held)\b/i,
  /\btells? (?:it|them|us|what|whether|how|of|that|apart|nothing)\b/i,
  /\bholds? (?:good|only|for each|a|the|no|all)\b/i,
  /\b(?:beside|anew|once more|besides)\b/i,
  /\bthat (?:are|is) (?:two|three|four) \w+s\b/i,
  /\bsay (?:--|so\b)/i,
  /\bwhere (?:there is|one is|none is|nothing|somebody|nobody)\b/i,
  /\b(?:nobody|somebody|anybody) (?:who|that|else|is|has|asks?|knows?|says?)\b/i,
  /\b(?:lets? go|let go of|leaves? lie|takes? in|taken in|taking in)\b/i,
  /\bno (?:more|longer|larger|fewer) than\b/i,
  /\bwhich is why\b/i,
  /\bof (?:its|their|a|an) own (?:accord|making)\b/i,
  /\b(?:goes|go|went) (?:on|by|before|with it)\b/i,
  /\bwhat (?:it|they|he|she|one|somebody|people) (?:has|have|had|is|are|was|were|does|do) (?:read|been|told)\b/i,
  /\bthe one (?:that|who)\b/i,
  /\b(?:hands?|handed) in\b/i,
];

/** Texts of other people. */
const samples = ['src/compute/extraction/boilerplate-lines.ts'];
const sources = execFileSync('git', ['ls-files', 'console', 'extension', 'src'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => /\.(?:ts|tsx|html|json)$/.test(name) && !samples.includes(name) && existsSync(join(root, name)));

test('pages, comments and texts of the interface have no phrase that has to be read twice', () => {
  const texts = [...pages.map((name) => [name, proseOf(name)]), ...sources.map((name) => [name, textOf(name)])];
  const found = texts.flatMap(([name, text]) =>
    text
      .split('\n')
      .flatMap((line, at) =>
        banned.flatMap((phrase) => phrase.exec(line)?.map((hit) => `${name}: ${at + 1}: ${hit}`) ?? []),
      ),
  );
  assert.deepEqual(found, []);
});

/** The fragment that GitHub gives a heading. */
const fragmentOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

test('links between the pages lead to pages and headings', () => {
  const broken = pages.flatMap((name) =>
    Array.from(proseOf(name).matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)).flatMap(([, path, fragment]) => {
      const target = path === '' ? name : join(dirname(name), path);
      if (!existsSync(join(root, target))) return [`${name}: ${target}`];
      if (fragment === undefined) return [];
      const headings = Array.from(proseOf(target).matchAll(/^#+ (.*)$/gm), ([, heading]) => fragmentOf(heading));
      return headings.includes(fragment) ? [] : [`${name}: ${target}#${fragment}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test('the pages have at most 40,000 words', () => {
  const words = pages.reduce((sum, name) => sum + textOf(name).split(/\s+/).length, 0);
  assert.ok(words <= 40_000, `${words} words`);
});
