/** The systems that are compared: the service's recogniser, compromise alone, wink alone. Each gives spans in the compared types. */
import nlp from 'compromise';
import winkModel from 'wink-eng-lite-web-model';
import winkNlp from 'wink-nlp';
import type { WordVectors } from '../../src/compute/embedding/word-vectors.ts';
import type { NameTagger } from '../../src/compute/entities/name-tagger.ts';
import { createEntityRecognizer, type EntityType } from '../../src/compute/entities/recognize-entities.ts';
import { createWordKinds } from '../../src/compute/entities/word-kinds.ts';
import type { ComparedType, Span } from './gold.ts';

export type System = (text: string, hasEvents: boolean) => Span[];

const typeOf: Readonly<Record<EntityType, ComparedType | null>> = {
  person: 'PER',
  organization: 'ORG',
  place: 'LOC',
  event: 'EVENT',
  work: 'MISC',
  group: 'MISC',
  date: null,
  amount: null,
};

/** Dates and amounts are in no gold labels, and left out. */
export function readbackSystem(vectors: WordVectors, tagger: NameTagger): System {
  const recognize = createEntityRecognizer(createWordKinds(vectors), tagger);
  return (text, hasEvents) =>
    recognize(text).flatMap(({ type, mentions }) => {
      const compared = type === 'event' && !hasEvents ? 'MISC' : typeOf[type];
      return compared === null
        ? []
        : mentions.map(({ start, end }) => ({ type: compared, start, end, text: text.slice(start, end) }));
    });
}

interface OffsetMatch {
  text: string;
  offset?: { start: number; length: number };
}

/** Its people, places and organisations, without the punctuation that it keeps at the ends. */
export function compromiseSystem(): System {
  return (text) => {
    const document = nlp(text);
    const views = { PER: document.people(), LOC: document.places(), ORG: document.organizations() };
    return Object.entries(views).flatMap(([type, view]) =>
      (view.json({ offset: true }) as OffsetMatch[]).flatMap(({ text: surface, offset }) => {
        if (offset === undefined) return [];
        const lead = surface.match(/^[^\p{L}\p{N}]*/u)?.[0].length ?? 0;
        const name = surface.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
        const start = text.indexOf(name, Math.max(0, offset.start + Math.min(lead, 0)));
        return start < 0 ? [] : [{ type: type as ComparedType, start, end: start + name.length, text: name }];
      }),
    );
  };
}

/** Runs of its proper nouns: it gives names no type, so all are MISC and only the sets of names can be compared. */
export function winkSystem(): System {
  const wink = winkNlp(winkModel, ['sbd', 'pos']);
  return (text) => {
    const tokens = wink.readDoc(text).tokens();
    const surfaces = tokens.out();
    const parts = tokens.out(wink.its.pos) as string[];
    const spans: Span[] = [];
    let at = 0;
    let open: Span | null = null;
    surfaces.forEach((surface, i) => {
      const start = text.indexOf(surface, at);
      if (start < 0) return;
      at = start + surface.length;
      if (parts[i] !== 'PROPN') {
        open = null;
        return;
      }
      if (open === null) {
        open = { type: 'MISC', start, end: at, text: surface };
        spans.push(open);
      } else {
        open.end = at;
        open.text = text.slice(open.start, at);
      }
    });
    return spans;
  };
}
