/** Sentences of pages, with where and when they were read; and the best one above the results of a search. */
import { useEffect } from 'preact/hooks';
import { readListQuestion } from '../../../src/compute/ranking/list-questions.ts';
import type { AskResponse, Quote } from '../../../src/domain/ask.ts';
import { likelyRelevant } from '../../../src/engine/relevance.ts';
import { call } from '../../api/client.ts';
import { linkTo, useKept } from '../../app/router.ts';
import { dateOf, fullDateOf } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { nameOf, Outside, SiteMark, safeUrl } from '../../ui/text.tsx';
import { type Criteria, linkOf } from '../search/criteria.ts';
import type { Found } from '../search/use-search.ts';
import { askedIn } from './use-ask.ts';

/** The sentence in its page's stored text. */
export const linkToQuote = ({ page_id, chunk_id, char_start, char_end }: Quote): string =>
  linkTo('page', page_id, { passage: chunk_id, at: `${char_start}-${char_end}` });

const ReadOn = ({ at }: { at: string }) => (
  <time dateTime={at} title={`First read ${fullDateOf(at)}`}>
    read on {dateOf(at)}
  </time>
);

export function QuoteList({ quotes, label }: { quotes: readonly Quote[]; label: string }) {
  if (quotes.length === 0) return null;
  return (
    <ol class="quotes" aria-label={label}>
      {quotes.map((quote) => (
        <li key={quote.number}>
          <span class="tag">{quote.number}</span>
          <div>
            <blockquote class="passage" cite={linkToQuote(quote)}>
              <p dir="auto">{quote.text}</p>
            </blockquote>
            <p class="result-meta">
              <SiteMark domain={quote.domain} />
              <a class="link-button" href={linkToQuote(quote)}>
                <bdi>{nameOf(quote)}</bdi>
              </a>
              <bdi class="dotted">{quote.domain}</bdi>
              <span class="dotted">
                <ReadOn at={quote.first_seen_at} />
              </span>
              <Outside class="link-button dotted" href={safeUrl(quote.link)}>
                Original
                <span class="hidden"> of {quote.number}</span>
              </Outside>
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Begins with a question word of a frequent language and has three words, or has a question mark at its end. */
const questionWords =
  `who whom whose what which when where why how is are was were do does did can could should would has have had will
  wer wen wem was welche welcher welches wann wo woher wohin warum wieso weshalb wie ist sind war waren hat haben kann gibt
  qui que quoi quel quelle quels quelles quand où pourquoi comment combien quién qué cuál cuáles cuándo dónde cómo cuánto
  chi cosa quale quali quando dove perché come quanto quem qual quais onde como wat welke wanneer waar waarom hoe vem vad när var hur
  kto co który kiedy gdzie dlaczego jak ile кто что какой какая какие когда где почему зачем как сколько kim nerede neden nasıl`
    .split(/\s+/)
    .join('|');
const question = new RegExp(
  `^(?:${questionWords})\\s+\\S+\\s+\\S|[?？؟]\\s*$|[吗呢]$|什么|怎么|为什么|哪[里个]|なぜ|どこ|いつ|ですか$|무엇|어떻게`,
  'iu',
);

/** Whether the service is likely to answer the query with sentences of these results. */
const isAnswered = ({ query, results }: Found): boolean =>
  question.test(query) &&
  results.some(({ relevance }) => (relevance ?? 1) >= likelyRelevant) &&
  readListQuestion(query, { now: 0, zone: 'UTC' }) === null;

interface Best {
  /** The search and its request. */
  of: string;
  key: string;
  quote: Quote | null;
}

/**
 * The best sentence for a search that is a question. It is requested after the results of the full search. Its place is
 * reserved together with these results, so that nothing moves when it arrives.
 */
export function BestSentence({ found, isCurrent, criteria }: { found: Found; isCurrent: boolean; criteria: Criteria }) {
  const [best, setBest] = useKept<Best | null>('best sentence', null);
  const isQuestion = isAnswered(found);
  const { key, query_id: of } = found;
  const isWanted = isQuestion && isCurrent && !found.isPassing && best?.of !== of;
  useEffect(() => {
    if (!isWanted) return;
    const controller = new AbortController();
    const body = { question: found.corrected_query ?? found.query, sentences: 1, ...askedIn(criteria) };
    call<AskResponse>('POST', '/v1/ask', { body, signal: controller.signal }).then(
      ({ quotes }) => {
        if (!controller.signal.aborted) setBest({ of, key, quote: quotes.find((quote) => quote.best) ?? null });
      },
      () => undefined, // the results stay without it
    );
    return () => controller.abort();
  }, [isWanted, of]);
  if (!isQuestion) return null;
  const quote = best?.key === key ? best.quote : null;
  return (
    <div class="best" aria-live="polite">
      {quote !== null && (
        <section class="card" aria-label="Best sentence">
          <p class="best-source">
            <span class="best-page">
              From{' '}
              <a href={linkToQuote(quote)}>
                <bdi>{nameOf(quote)}</bdi>
              </a>
            </span>
            <span>
              , <ReadOn at={quote.first_seen_at} />:
            </span>
            <a class="quiet-link" href={linkOf({ ...criteria, query: found.query }, 'ask')}>
              Ask
              <Icon name="chevron" />
            </a>
          </p>
          <blockquote class="passage" cite={linkToQuote(quote)}>
            <p dir="auto">{quote.text}</p>
          </blockquote>
        </section>
      )}
    </div>
  );
}
