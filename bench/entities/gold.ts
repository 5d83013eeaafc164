/** Texts with gold entities, and how the labels of systems and collections are compared: docs/entities.md has the table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const comparedTypes = ['PER', 'ORG', 'LOC', 'EVENT', 'MISC'] as const;
export type ComparedType = (typeof comparedTypes)[number];

export interface Span {
  type: ComparedType;
  start: number;
  end: number;
  text: string;
}

export interface GoldDocument {
  id: string;
  text: string;
  entities: Span[];
}

const labels: Readonly<Record<string, ComparedType>> = {
  PER: 'PER',
  LOC: 'LOC',
  ORG: 'ORG',
  MISC: 'MISC',
  person: 'PER',
  politician: 'PER',
  organisation: 'ORG',
  politicalparty: 'ORG',
  country: 'LOC',
  location: 'LOC',
  election: 'EVENT',
  event: 'EVENT',
  misc: 'MISC',
};

/** What else the domains of CrossNER have; all that is not here is MISC. */
const crossNerLabels: Readonly<Record<string, ComparedType>> = {
  ...labels,
  scientist: 'PER',
  writer: 'PER',
  musicalartist: 'PER',
  university: 'ORG',
  band: 'ORG',
  award: 'EVENT',
};
export const crossNerDomains = ['science', 'literature', 'music'] as const;
/** Sentences of one document. */
const sentencesTogether = 10;

/** Wikigold has no type for events: they are MISC there. */
export const collections = [
  { name: 'wikigold', hasEvents: false },
  { name: 'crossner-politics', hasEvents: true },
] as const;

export function readGold(root: string, name: string): GoldDocument[] {
  const lines = readFileSync(join(root, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const { _id, text, entities } = JSON.parse(line) as {
      _id: string;
      text: string;
      entities: (Span & { type: string })[];
    };
    const spans = entities.map((entity) => {
      const type = labels[entity.type];
      if (type === undefined) throw new Error(`unknown label ${entity.type}`);
      return { ...entity, type };
    });
    return { id: _id, text, entities: spans };
  });
}

/** A part of a domain of CrossNER: a token and its BIO label a line; tokens joined by spaces, sentences by line breaks. */
export function readCrossNer(folder: string, domain: string, part: string): GoldDocument[] {
  const sentences = readFileSync(join(folder, domain, `${part}.txt`), 'utf8')
    .split(/\n\s*\n/)
    .filter((sentence) => sentence.trim() !== '');
  const documents: GoldDocument[] = [];
  for (let from = 0; from < sentences.length; from += sentencesTogether) {
    let text = '';
    const entities: Span[] = [];
    for (const sentence of sentences.slice(from, from + sentencesTogether)) {
      let isOpen = false;
      for (const line of sentence.trim().split('\n')) {
        const [token, label] = line.split('\t');
        if (text !== '' && !text.endsWith('\n')) text += ' ';
        const start = text.length;
        text += token;
        const open = entities.at(-1);
        if (label.startsWith('B-')) {
          entities.push({ type: crossNerLabels[label.slice(2)] ?? 'MISC', start, end: text.length, text: token });
        } else if (label.startsWith('I-') && isOpen && open !== undefined) {
          open.end = text.length;
          open.text = text.slice(open.start, open.end);
        }
        isOpen = label !== 'O';
      }
      text += '\n';
    }
    documents.push({ id: `${domain}-${part}-${documents.length}`, text, entities });
  }
  return documents;
}
