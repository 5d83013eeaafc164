/**
 * What of a query is searched for. Function words say how a question is put, not what it is about; and words like `what`
 * are rare in the texts that answer, so that their idf would outweigh the subject. They are left out of the query while
 * other terms remain; texts keep them. Pure; called by the searchers' query analysis and by the benches.
 */
import type { TermSequence } from '../embedding/embed-local.ts';

/**
 * The closed classes of English: articles, pronouns, prepositions, conjunctions, auxiliaries, question words, and the clitics
 * that the analyzer cuts off, with the elided articles of French and Italian. Left out of the list, as they are names or subjects as often: `us`, `may`, `will`, `can`, `mine`.
 */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  `a an the this that these those
  i me my myself we our ours ourselves you your yours yourself he him his himself she her hers herself
  it its itself they them their theirs themselves
  who whom whose which what when where why how
  be am is are was were been being do does did doing done have has had having
  would should could might must shall
  and or but nor so yet if then than because while although though whether as until unless
  of at by for with about against between into through during before after above below to from in out on off over
  under upon within without toward towards among per via onto
  not no nor only own same too very just also such both each few more most other some any all every either neither
  there here again further once now ever
  n't 's 're 've 'll 'd 'm nt ca wo
  c' d' j' l' m' n' s' t' v' qu' jusqu' quoiqu' lorsqu' puisqu' un' all' dall' dell' nell' sull' coll' gl' agl' dagl' degl' negl' sugl'`.split(
    /\s+/,
  ),
);

/** The terms of a query without its function words; all of them where nothing else would remain. Aligned arrays. */
export function contentTerms({ words, stems }: TermSequence): { words: string[]; stems: string[] } {
  const places = stems.map((_, place) => place).filter((place) => stems[place] !== '');
  const content = places.filter((place) => !FUNCTION_WORDS.has(words[place]));
  const kept = content.length > 0 ? content : places;
  return { words: kept.map((place) => words[place]), stems: kept.map((place) => stems[place]) };
}
