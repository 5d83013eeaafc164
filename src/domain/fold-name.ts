/** Names are the same entity's where they differ in case, accents and white space only. */
import { normalizeText } from './normalize-text.ts';

const marks = /[\u0300-\u036f]/g;

export function foldName(name: string): string {
  return normalizeText(name, 'NFKD').replace(marks, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
