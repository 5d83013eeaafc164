/** Names are the same entity's where they differ in case, accents and white space only. */
const marks = /[\u0300-\u036f]/g;

export function foldName(name: string): string {
  return name.normalize('NFKD').replace(marks, '').toLowerCase().replace(/\s+/g, ' ').trim();
}
