/** Texts in which people marked names, read from the files of their collections: models/README.md says where they come from. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NameType } from '../../src/compute/text/name-tags.ts';

export interface MarkedSpan {
  type: NameType;
  start: number;
  end: number;
}

export interface MarkedText {
  text: string;
  spans: MarkedSpan[];
}

/** Labels of all collections; what is not here is `other`, and what is null is no name. */
const labels: Readonly<Record<string, NameType | null>> = {
  PER: 'person',
  person: 'person',
  politician: 'person',
  scientist: 'person',
  researcher: 'person',
  writer: 'person',
  musicalartist: 'person',
  ORG: 'organization',
  organisation: 'organization',
  politicalparty: 'organization',
  university: 'organization',
  band: 'organization',
  corporation: 'organization',
  group: 'organization',
  GPE_ORG: 'organization',
  LOC: 'place',
  GPE_LOC: 'place',
  country: 'place',
  location: 'place',
  // Adjectives and parts of compounds.
  DRV: null,
  LOCderiv: null,
  ORGderiv: null,
  PERderiv: null,
  OTHderiv: null,
  LOCpart: null,
  ORGpart: null,
  PERpart: null,
  OTHpart: null,
};

const typeOf = (label: string): NameType | null => (label in labels ? labels[label] : 'other');

/** How a collection's lines are read: which column is the word's, which the label's; `label` finds it in a column of features. */
export interface Columns {
  word: number;
  label: number;
  separator: RegExp;
  find?: RegExp;
}

/** Sentences of one text. */
const sentencesTogether = 10;
const leansLeft = /^(?:[.,;:!?…%)\]}»”’]+|n't|'(?:s|re|ve|ll|d|m|t)?|’(?:s|re|ve|ll|d|m|t))$/iu;
const leansRight = /^[([{«“„$£€@#]+$/u;

/** Words and labels as running text: punctuation stands where writers put it in every other text, and between spaces in the others. */
export function readColumns(path: string, { word, label, separator, find }: Columns, spaced: boolean): MarkedText[] {
  const sentences = readFileSync(path, 'utf8')
    .split(/\n\s*\n/)
    .map((sentence) => sentence.split('\n').filter((line) => line.trim() !== '' && !/^# /.test(line)))
    .filter((lines) => lines.length > 0);
  const texts: MarkedText[] = [];
  for (let from = 0; from < sentences.length; from += sentencesTogether) {
    const isApart = texts.length % 2 === 1;
    let text = '';
    const spans: MarkedSpan[] = [];
    for (const sentence of sentences.slice(from, from + sentencesTogether)) {
      let open: MarkedSpan | null = null;
      let joins = true;
      for (const line of sentence) {
        const columns = line.split(separator);
        const token = columns[word] ?? '';
        const raw = columns[label] ?? 'O';
        const tag = (find === undefined ? raw : (find.exec(raw)?.[1] ?? 'O')).trim().split(/[,|]/)[0];
        if (token === '') continue;
        if (spaced && !joins && (isApart || !leansLeft.test(token))) text += ' ';
        joins = spaced && !isApart && leansRight.test(token);
        const start = text.length;
        text += token;
        const type = tag === 'O' || tag === '' ? null : typeOf(tag.slice(2));
        if (type === null) open = null;
        else if (tag.startsWith('I-') && open?.type === type) open.end = text.length;
        else {
          open = { type, start, end: text.length };
          spans.push(open);
        }
        if (!spaced) joins = true;
      }
      text += '\n';
    }
    texts.push({ text, spans });
  }
  return texts;
}

/** A collection of `../shared/data/ner`. */
export function readJsonLines(path: string): MarkedText[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { text, entities } = JSON.parse(line) as {
        text: string;
        entities: { type: string; start: number; end: number }[];
      };
      const spans = entities.flatMap(({ type, start, end }): MarkedSpan[] => {
        const known = typeOf(type);
        return known === null ? [] : [{ type: known, start, end }];
      });
      return { text, spans };
    });
}

const tabs = /\t/;
const crossNer: Columns = { word: 0, label: 1, separator: tabs };

/** Every collection with how it is read, in the folder of all. */
export function readCollections(folder: string, shared: string): Map<string, MarkedText[]> {
  const found = new Map<string, MarkedText[]>();
  found.set('wikigold', readJsonLines(join(shared, 'wikigold.jsonl')));
  found.set('politics', readJsonLines(join(shared, 'crossner-politics.jsonl')));
  for (const domain of ['ai', 'literature', 'music', 'science', 'politics']) {
    for (const part of ['train', 'dev', 'test']) {
      // `politics` above is this part.
      if (domain === 'politics' && part === 'test') continue;
      found.set(`${domain} ${part}`, readColumns(join(folder, 'ner_data', domain, `${part}.txt`), crossNer, true));
    }
  }
  const germEval: Columns = { word: 0, label: 3, separator: / / };
  for (const part of ['dev', 'test'])
    found.set(`de ${part}`, readColumns(join(folder, `germeval/${part}.txt`), germEval, true));
  const norne: Columns = { word: 1, label: 9, separator: tabs, find: /name=([^|]*)/ };
  for (const part of ['dev', 'test'])
    found.set(`nb ${part}`, readColumns(join(folder, `norne/nob-${part}.conllu`), norne, true));
  const wnut: Columns = { word: 0, label: 1, separator: tabs };
  for (const part of ['dev', 'test'])
    found.set(`wnut ${part}`, readColumns(join(folder, `wnut17/${part}.conll`), wnut, true));
  const uner: Columns = { word: 1, label: 2, separator: tabs };
  for (const name of ['pt_bosque', 'hr_set', 'da_ddt', 'sv_talbanken', 'zh_gsd']) {
    found.set(`uner ${name}`, readColumns(join(folder, `uner/${name}-test.iob2`), uner, name !== 'zh_gsd'));
  }
  found.set('uner zh_gsd dev', readColumns(join(folder, 'uner/zh_gsd-dev.iob2'), uner, false));
  found.set('btc h', readColumns(join(folder, 'btc/h.conll'), { word: 0, label: 1, separator: tabs }, true));
  return found;
}
