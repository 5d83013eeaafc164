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
