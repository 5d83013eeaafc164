/**
 * How often the language of a page is right, wrong and unknown, as JSON: over the files of a folder, `de.txt` of German sentences, one a line. For each
 * length sentences are joined in random order until a text has so many characters, at most 20 texts a language. Half `a` was looked at
 * when the detectors and their thresholds were chosen, half `b` only reports. With `--declared en` each page declares that language.
 * Written so much alike that one counts as the other: Norwegian and Danish; Indonesian and Malay; Bosnian, Croatian and Serbian.
 * Usage: npm run bench -- language-detection FOLDER [--declared TAG]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../src/compute/seeded-random.ts';
import { createTextAnalyzer } from '../src/compute/text/analyze-text.ts';
import { languageCode, languageOfTag } from '../src/compute/text/language-tags.ts';
import { decideLanguages, loadDetectors } from '../src/compute/text/page-languages.ts';
import { createWinkTokenizer } from '../src/compute/text/wink-tokenizer.ts';
import { describeMachine } from './machine.ts';

const lengths = [400, 220, 100, 50];
const textsOfLanguage = 20;
const alike: Readonly<Record<string, string>> = { da: 'no', hr: 'sr' };

const { values, positionals } = parseArgs({ options: { declared: { type: 'string' } }, allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) throw new Error('give the folder of sentences');
await loadDetectors();
const analyzer = createTextAnalyzer(createWinkTokenizer);
const groupOf = (tag: string) => alike[languageCode(tag)] ?? languageCode(tag);

function textsOf(file: string, length: number): string[] {
  const random = seededRandom(length);
  const sentences = readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => line.length > 20)
    .map((line) => ({ line, at: random() }))
    .sort((a, b) => a.at - b.at);
  const texts: string[] = [];
  let text = '';
  for (const { line } of sentences) {
    text += `${line.trim()} `;
    if (text.length < length) continue;
    texts.push(length < 200 ? text.slice(0, text.lastIndexOf(' ', 1.2 * length) + 1) || text.slice(0, length) : text);
    text = '';
  }
  return texts.slice(0, textsOfLanguage);
}

function decided(text: string): string | null {
  analyzer.trim();
  const analyzed = analyzer.analyze(text);
  const whole = { token_from: 0, token_to: analyzed.terms.length };
  return decideLanguages(analyzed, analyzer.analyze(''), [whole], values.declared ?? null).language;
}

const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
const measured = lengths.map((length) => {
  const texts = files.flatMap((file) =>
    textsOf(file, length).map((text, at) => ({ own: file.slice(0, -4), half: 'ab'[at % 2], language: decided(text) })),
  );
  const halves = ['a', 'b'].map((half) => {
    const mine = texts.filter((text) => text.half === half);
    const share = (some: readonly unknown[]) => Number((some.length / mine.length).toFixed(4));
    const isRight = ({ own, language }: (typeof mine)[number]) =>
      language !== null && groupOf(language) === groupOf(own);
    const wrong = mine.filter((text) => text.language !== null && !isRight(text));
    const keptApart = mine.filter(({ own }) => languageOfTag(own) !== '');
    return [
      half,
      {
        texts: mine.length,
        right: share(mine.filter(isRight)),
        wrong: share(wrong),
        right_of_those_kept_apart: Number((keptApart.filter(isRight).length / keptApart.length).toFixed(4)),
        wrong_as: wrong.map(({ own, language }) => `${own} > ${language}`).join(', '),
      },
    ];
  });
  return { characters: length, ...Object.fromEntries(halves) };
});
const report = { bench: 'language-detection', machine: describeMachine(), languages: files.length, measured };
console.log(JSON.stringify(report, null, 1));
