/** The only caller of `normalize` (tested): ICU took 11 s to sort 160,000 combining marks; runs of 30 are linear. */

/** Unicode Standard Annex 15, "Stream-Safe Text Format": no language needs so many marks on one character. */
const maxMarksInRow = 30;
/** No character below U+0300 is a mark, or becomes one. */
const mayHoldMarks = /[\u0300-\uffff]/;
/** The halfwidth voicing marks of Katakana are letters that normalization turns into marks. */
const mark = String.raw`(?!\u034f)[\p{M}\uff9e\uff9f]`;
const fullRun = new RegExp(`(?:${mark}){${maxMarksInRow}}(?=${mark})`, 'gu');

/** As in the annex, a combining grapheme joiner (U+034F) follows each 30 marks of a run. Linear. */
export function normalizeText(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  const mayBeLong = text.length > maxMarksInRow && mayHoldMarks.test(text);
  return (mayBeLong ? text.replace(fullRun, '$&\u034f') : text).normalize(form);
}

const joiners = /[\p{Join_C}\u00ad\u2060]/gu;

/** Without soft hyphens, joiners and non-joiners. */
export function withoutJoiners(text: string): string {
  return text.replace(joiners, '');
}

/** Equal for names that differ only in case, accents and white space. */
export function foldName(name: string): string {
  return normalizeText(name, 'NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
}

/** A query equals a title if these forms are equal, without quotation marks. Contract "Search" exact_match. */
export function foldTitle(title: string): string {
  return normalizeText(title, 'NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}
