/** `readback ask`: sentences of pages that answer a question, and an answer of the language model. */
import { knownZone } from '../../compute/ranking/query-operators.ts';
import type { AskedPage, AskResponse, Quote } from '../../domain/ask.ts';
import { noResultsText } from '../../domain/no-results-text.ts';
import { type Context, clientOf, tell } from '../context.ts';
import { CliError, counted, day, type ExitCode, exitCodes, fitted, plain, type Terminal, wrapped } from '../output.ts';

const shownVisits = 3;
/** Time limit, ms. The service itself limits the model's answer to `llm.timeout_s`. */
const writingMs = 86_400_000;

export interface AskArguments {
  sentences: number;
  domain?: string;
  after?: number;
  before?: number;
  model?: boolean;
  yes?: boolean;
}

export async function askCommand(context: Context, words: readonly string[], args: AskArguments): Promise<ExitCode> {
  const [after, before] = [args.after, args.before].map((at) => (at === undefined ? at : new Date(at).toISOString()));
  const { model = false, yes = false } = args;
  if (yes && !model) throw new CliError(exitCodes.misuse, '--yes sends passages to a language model: add --model');
  const request = {
    question: words.join(' '),
    sentences: args.sentences,
    ...knownZone(),
    filters: { domain: args.domain, after, before },
    use_model: model,
    preview: model && !yes,
  };
  const client = clientOf(context, model && yes ? 'write' : 'read');
  const limitMs = model && yes ? writingMs : undefined;
  const answer = await client.call<AskResponse>('POST', '/v1/ask', request, context.signal, limitMs);
  tell(context, answer, (terminal) => tellAnswer(terminal, answer));
  const { generated, sent } = answer;
  const isSent = generated !== null || answer.quotes.length === 0;
  if (model && !isSent && !context.json) tellPreview(context.terminal, sent);
  return generated === null || generated.state === 'answered' ? exitCodes.done : exitCodes.partly;
}

const statesInWords = {
  answered: '',
  not_in_reading: 'the language model found no answer in your reading',
  empty: 'the language model answered nothing',
  unverified: 'the language model gave no quotation that stands in your reading',
  late: 'the language model did not finish in time',
  failed: 'the language model did not answer',
} as const;

function tellAnswer(terminal: Terminal, { kind, no_results, quotes, pages, generated }: AskResponse): void {
  const say = (text: string) => {
    for (const line of wrapped(text, terminal.columns, '')) terminal.say(line);
  };
  const sayPage = ({ title, canonical_url, link }: Quote | AskedPage, facts: string) => {
    const shown = fitted(plain(title || canonical_url, 160), Math.max(20, terminal.columns - facts.length - 7));
    terminal.say(`    ${terminal.link(terminal.style('bold', shown), link)} · ${terminal.style('dim', facts)}`);
  };
  if (kind === 'none') {
    const isPlain = no_results === null || no_results.reason === 'no_match';
    say(isPlain ? 'Not in your reading.' : plain(noResultsText(no_results), 400));
  }
  for (const page of pages) sayPage(page, page.visited_at.slice(0, shownVisits).map(day).join(', '));
  const { sentences = [], quotations = [], state = 'answered', detail, dropped = 0 } = generated ?? {};
  for (const { text, quotations } of sentences) say(`${plain(text)} [${quotations.join(', ')}]`);
  for (const quote of sentences.length > 0 ? quotations : quotes) {
    say(`${sentences.length > 0 ? `[${quote.number}] ` : ''}“${plain(quote.text)}”`);
    sayPage(quote, day(quote.first_seen_at));
  }
  if (state !== 'answered') terminal.note(`${statesInWords[state]}${detail == null ? '' : `: ${plain(detail, 300)}`}`);
  if (dropped > 0) terminal.note(`${counted(dropped, 'sentence')} without a verified quotation left out`);
}

function tellPreview({ note, columns }: Terminal, sent: AskResponse['sent']): void {
  if (sent === null) {
    note('nothing to send to the language model');
    return;
  }
  if (sent.passages.length === 0) {
    note('no passage may be sent: excluded by the settings, or too long');
    return;
  }
  const place = [sent.model, sent.host].filter((part) => part !== null).join(' at ');
  note(`--yes sends ${counted(sent.passages.length, 'passage')} (about ${sent.tokens} tokens) to ${place}:`);
  for (const { title, canonical_url, number } of sent.passages)
    note(fitted(`${number}. ${plain(title || canonical_url, 160)} · ${plain(canonical_url, 200)}`, columns));
  if (sent.excluded_pages > 0) note(`${counted(sent.excluded_pages, 'page')} excluded by llm.exclude`);
}
