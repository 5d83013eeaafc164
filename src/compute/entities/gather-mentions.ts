/** What a page mentions as it is stored: each name once, folded, with the spellings of its mentions and their places. */
import { foldName } from '../../domain/normalize-text.ts';
import type { EntityMention, EntityType, RecognizedEntity } from './recognize-entities.ts';

export interface MentionedName {
  type: EntityType;
  /** Folded name: of one type there is one of a key. */
  key: string;
  /** Each spelling with its places: UTF-16 offsets into the body, start and end in turn; those of the title are below 0. */
  forms: [form: string, places: number[]][];
}

/** `bodyAt`: where the body begins in the text that was read; before it is the title. */
export function gatherMentions(text: string, found: readonly RecognizedEntity[], bodyAt = 0): MentionedName[] {
  const names = new Map<string, MentionedName>();
  for (const { name, type, mentions } of found) {
    const key = foldName(name);
    const place = `${type} ${key}`;
    const known = names.get(place);
    if (known === undefined) names.set(place, { type, key, forms: formsOf(text, mentions, bodyAt) });
    else known.forms.push(...formsOf(text, mentions, bodyAt));
  }
  return [...names.values()];
}

function formsOf(text: string, mentions: readonly EntityMention[], bodyAt: number): MentionedName['forms'] {
  const forms = new Map<string, number[]>();
  for (const { start, end } of mentions) {
    const form = text.slice(start, end).replace(/\s+/g, ' ');
    const places = forms.get(form);
    if (places === undefined) forms.set(form, [start - bodyAt, end - bodyAt]);
    else places.push(start - bodyAt, end - bodyAt);
  }
  return [...forms];
}
