/**
 * Unicode normalisation of text that somebody else wrote: the only place that calls `normalize` (held by a test). ICU sorts each run of
 * combining marks by insertion, so that a run of 160,000 in mixed order took 11 s; in runs of 30 the time is linear in the text.
 */

/** Unicode Standard Annex 15, "Stream-Safe Text Format": no language comes near so many marks on one character. */
const maxMarksInRow = 30;
/** Nothing before U+0300 is a mark, or becomes one. */
const mayHoldMarks = /[\u0300-\uffff]/;
/** The halfwidth voicing marks of Katakana are letters that become marks. */
const mark = String.raw`(?!\u034f)[\p{M}\uff9e\uff9f]`;
const fullRun = new RegExp(`(?:${mark}){${maxMarksInRow}}(?=${mark})`, 'gu');

/**
 * The text in a normalisation form. What it says is kept: where a run of marks is longer than 30, a combining grapheme joiner (U+034F), which is
 * invisible and a mark that none is sorted across, is put behind each 30, as the annex has it.
 * Errors: none. Linear in the length.
 */
export function normalizeText(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  const mayBeLong = text.length > maxMarksInRow && mayHoldMarks.test(text);
  return (mayBeLong ? text.replace(fullRun, '$&\u034f') : text).normalize(form);
}
