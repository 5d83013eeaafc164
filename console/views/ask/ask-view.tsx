/** Ask: questions that are answered by sentences of pages, and by a language model if this is allowed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AskedPage, AskResponse, Generated, Sent } from '../../../src/domain/ask.ts';
import type { SearchResponse } from '../../../src/domain/search.ts';
import { call, inOneDirection } from '../../api/client.ts';
import { useLoad } from '../../api/load.ts';
import { useEscape } from '../../app/keys.tsx';
import { go, kept, linkTo, route, useKept, useTitle } from '../../app/router.ts';
import { count, dateOf, many } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { PageRow } from '../../ui/page-row.tsx';
import { Empty, Fault, FormFault, ViewHead } from '../../ui/parts.tsx';
import { nameOf } from '../../ui/text.tsx';
import { type Criteria, criteriaOf, dayOf, filterless, isFiltered, linkOf, maxLetters } from '../search/criteria.ts';
import { FilterChips, FilterPanel, periodOf } from '../search/filters.tsx';
import { askedBy, counts, nothingCounted } from '../search/use-search.ts';
import { linkToQuote, QuoteList } from './quotes.tsx';
import { isRunning, isWaiting, maySendTo, type Turn, useAsk, writtenIn } from './use-ask.ts';

type Change = (part: Partial<Criteria>) => void;

const lead = 'Answers are sentences from your pages. “When did I read about …?” lists pages by date.';

export function AskView() {
  const criteria = criteriaOf(route.value.params);
  const conversation = useAsk(criteria);
  const { turns } = conversation;
  const last = turns.at(-1);
  const [text, setText] = useKept('typed', '');
  const [said, setSaid] = useState<string | null>(null);
  const [showsFilters, setShowsFilters] = useKept('filters', false);
  const box = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useTitle(turns[0]?.question ?? 'Ask');
  useEscape(turns.some(isRunning), conversation.cancel);
  useEffect(() => {
    if (!kept('link') && !matchMedia('(hover: none)').matches) box.current?.focus();
  }, []);
  /** Filters belong to the conversation, so changing them adds no step to the history. */
  const change: Change = (part) => go(linkOf({ ...criteria, ...part }, 'ask'), { replace: true });
  const send = (event: Event) => {
    event.preventDefault();
    const question = text.trim();
    setSaid(question === '' ? 'Type a question.' : null);
    box.current?.focus();
    if (question === '') return;
    setText('');
    conversation.ask(question);
    requestAnimationFrame(() => list.current?.lastElementChild?.scrollIntoView({ block: 'start' }));
  };
  return (
    <div class="view">
      <ViewHead title="Ask" lead={lead}>
        {turns.length > 0 && (
          <a class="button" href={linkOf({ ...criteria, query: '' }, 'ask')} onClick={() => box.current?.focus()}>
            <Icon name="plus" />
            New question
          </a>
        )}
        <button
          type="button"
          class="button"
          aria-expanded={showsFilters}
          onClick={() => setShowsFilters(!showsFilters)}
        >
          <Icon name="filter" />
          Filters
        </button>
      </ViewHead>
      <div class="search-body">
        <section aria-label="Questions and answers">
          <FilterChips criteria={criteria} change={change} />
          <p class="hidden" role="status">
            {last && statusOf(last)}
          </p>
          <div ref={list}>
            {turns.map((turn) => (
              <OneTurn key={turn.id} {...{ turn, criteria, conversation }} />
            ))}
          </div>
          <form class="ask-form" onSubmit={send}>
            <div class="search-box ask-box">
              <textarea
                ref={box}
                name="question"
                rows={1}
                aria-label="Question"
                aria-invalid={said !== null}
                placeholder={last ? 'Ask a follow-up question' : 'Ask what you have read'}
                maxLength={maxLetters}
                enterkeyhint="send"
                value={text}
                onInput={({ currentTarget: { value } }) => {
                  setText(value);
                  setSaid(value.length < maxLetters ? null : `A question has at most ${count(maxLetters)} characters.`);
                }}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send(event);
                }}
              />
              <button type="submit" class="button button-primary">
                Ask
              </button>
            </div>
            <FormFault said={said} />
          </form>
        </section>
        {showsFilters && <Filters criteria={{ ...criteria, query: '' }} change={change} />}
      </div>
    </div>
  );
}

/** Filters, as in a search of all pages. */
function Filters({ criteria, change }: { criteria: Criteria; change: Change }) {
  const of = linkOf(criteria);
  const { data, error, loading, reload } = useLoad(
    (signal) => call<SearchResponse>('POST', '/v1/search', { body: { ...askedBy(criteria), ...counts }, signal }),
    [],
    [of],
  );
  const counted = data ? { ...nothingCounted, ...data, facets: data.facets ?? null, of } : nothingCounted;
  if (error !== undefined) return <Fault error={error} retry={reload} />;
  return <FilterPanel isOpen isOld={loading && data !== undefined} {...{ criteria, counted, change }} />;
}

const stateWords: Readonly<Record<Turn['state'], string>> = {
  asking: 'Searching your pages…',
  writing: 'Waiting for the language model…',
  cancelled: 'Cancelled',
  failed: 'Not answered yet',
  done: '',
};

/** For screen readers. */
function statusOf({ state, answer, offer }: Turn): string {
  if (state !== 'done' || answer === null) return stateWords[state];
  if (answer.kind === 'none') return notRead;
  if (answer.kind === 'pages') return many(answer.pages.length, 'page');
  if (answer.generated !== null) return 'Answered';
  return `${many(answer.quotes.length, 'sentence')}${offer === null || isNothing(offer) ? '' : '. A language model can answer, too.'}`;
}

const notRead = 'Not in your reading';
const isNothing = ({ passages }: Sent): boolean => passages.length === 0;
const modelName = ({ host, model }: { host: string; model: string | null }) => (
  <bdi>{model === null ? host : `${model} at ${host}`}</bdi>
);

interface TurnProps {
  turn: Turn;
  criteria: Criteria;
  conversation: ReturnType<typeof useAsk>;
}

function OneTurn({ turn, criteria, conversation: { again, cancel, offer: show, allow, refuse } }: TurnProps) {
  const { question, state, error, answer, offer } = turn;
  const isBusy = isRunning(turn);
  const written = writtenIn(turn);
  const generated = answer?.generated ?? null;
  const model = answer?.kind === 'quotes' ? answer.language_model : null;
  const article = useRef<HTMLElement>(null);
  /** For buttons that disappear: keeps the focus in the turn. */
  const thenStay = (act: () => void) => () => {
    article.current?.focus({ preventScroll: true });
    act();
  };
  return (
    <article ref={article} tabIndex={-1} class="turn stack" aria-busy={isBusy}>
      <h2 dir="auto">{question}</h2>
      {answer !== null && answer.question !== question && (
        <p class="quiet">
          Searched for: <bdi>{answer.question}</bdi>
        </p>
      )}
      {(state === 'writing' || written.sentences.length > 0) && (
        <section class={state === 'writing' ? 'stack written-now' : 'stack'} aria-label="Answer">
          <p class="written" dir="auto" aria-live="polite">
            {written.sentences.map(({ text, quotations }, at) => [
              at > 0 && ' ',
              text,
              ...written.quotations
                .filter(({ number }) => quotations.includes(number))
                .map((quote) => (
                  <a class="tag" href={linkToQuote(quote)} aria-label={`Source ${quote.number}: ${nameOf(quote)}`}>
                    {quote.number}
                  </a>
                )),
            ])}
          </p>
          <QuoteList quotes={written.quotations} label="Sources" />
        </section>
      )}
      {generated !== null && <GeneratedNote generated={generated} />}
      {(isBusy || state === 'cancelled' || isWaiting(turn)) && (
        <p class="toolbar quiet">
          {isBusy && <span class="spinner" aria-hidden="true" />}
          {stateWords[state]}
          <button type="button" class="button button-small" onClick={thenStay(() => (isBusy ? cancel() : again(turn)))}>
            {isBusy ? 'Cancel' : 'Ask again'}
          </button>
        </p>
      )}
      <Fault error={error} retry={() => again(turn)} />
      {[offer, answer?.sent].some((sent) => sent && isNothing(sent)) && (
        <p class="quiet">No passage may be sent: excluded by the settings, or too long.</p>
      )}
      {offer && !isNothing(offer) && (
        <Offer
          isFollowUp={turn.id > 0}
          offer={offer}
          allow={thenStay(() => allow(turn, offer.host))}
          refuse={thenStay(() => refuse(turn, offer.host))}
        />
      )}
      {answer?.kind === 'quotes' && (
        <>
          {written.sentences.length > 0 && <h3 class="quiet">Best sentences</h3>}
          <QuoteList quotes={answer.quotes} label="Best sentences" />
        </>
      )}
      {answer?.kind === 'pages' && <PagesByDate answer={answer} />}
      {answer?.kind === 'none' && (
        <Empty icon="ask" title={notRead}>
          <p>
            {answer.no_results?.reason === 'indexing'
              ? `${many(answer.no_results.pages_waiting, 'page')} not indexed yet.`
              : 'None of your pages answers this.'}
          </p>
          {isFiltered(criteria) && (
            <a class="button" href={linkOf({ ...criteria, ...filterless, query: question }, 'ask')}>
              Ask without filters
            </a>
          )}
        </Empty>
      )}
      {model && state === 'done' && offer === null && (
        <p class="toolbar quiet">
          {generated && generated.sentences.length > 0 && (
            <span>
              Written by {modelName(model)}. Its sources are quoted word for word from your pages; check that they say
              the same.
            </span>
          )}
          {maySendTo(model.host) ? (
            <>
              <button type="button" class="button button-small" onClick={thenStay(() => again(turn))}>
                Answer again
              </button>
              <button type="button" class="button button-small" onClick={thenStay(() => refuse(turn, model.host))}>
                Stop sending passages
              </button>
            </>
          ) : (
            <button type="button" class="button button-small" onClick={thenStay(() => show(turn))}>
              <span>Answer with {modelName(model)}…</span>
            </button>
          )}
        </p>
      )}
    </article>
  );
}

const notes: Readonly<Record<Generated['state'], string>> = {
  answered: '',
  not_in_reading: 'The language model found no answer in these passages.',
  empty: 'The language model returned no text.',
  unverified: 'The language model quoted nothing that is in your pages, so its answer is not shown.',
  late: 'The language model did not finish in time.',
  failed: 'The language model failed.',
};

function GeneratedNote({ generated: { state, detail, dropped } }: { generated: Generated }) {
  const left = dropped > 0 && state !== 'unverified' ? `Left out without a source: ${many(dropped, 'sentence')}.` : '';
  const isFine = state === 'answered';
  if (isFine && left === '') return null;
  return (
    <p class={isFine ? 'quiet' : 'warning'} role={isFine ? undefined : 'status'}>
      <span>
        {[notes[state], left].filter(Boolean).join(' ')} {detail !== null && <bdi>{inOneDirection(detail)}</bdi>}
      </span>
    </p>
  );
}

interface OfferProps {
  offer: Sent;
  isFollowUp: boolean;
  allow: () => void;
  refuse: () => void;
}

/** Shows what is sent to which host, before this browser sends anything there for the first time. */
function Offer({ offer, isFollowUp, allow, refuse }: OfferProps) {
  const { passages, excluded_pages, tokens, host } = offer;
  return (
    <section class="card stack" aria-labelledby="offer">
      <h3 id="offer">Answer with {modelName(offer)}?</h3>
      <p>
        This sends your question, earlier questions and {many(passages.length, 'passage')} (about{' '}
        {many(tokens, 'token')}) to <bdi>{host}</bdi>. This browser remembers your choice.{' '}
        {isFollowUp && 'The question is first completed by the model, so the passages may differ. '}
        {excluded_pages > 0 && `Excluded by the settings: ${many(excluded_pages, 'page')}.`}
      </p>
      <ol class="offer-passages">
        {passages.map((passage) => (
          <li key={passage.number}>
            <details>
              <summary>
                <bdi>{nameOf(passage)}</bdi>
              </summary>
              <p dir="auto">{passage.text}</p>
            </details>
          </li>
        ))}
      </ol>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={refuse}>
          Do not send
        </button>
        <button type="button" class="button button-primary" onClick={allow}>
          Send and answer
        </button>
      </div>
    </section>
  );
}

function PagesByDate({ answer: { pages, period } }: { answer: AskResponse }) {
  const from = period?.after ? dayOf(new Date(period.after)) : null;
  const to = period?.before ? dayOf(new Date(Date.parse(period.before) - 1)) : null;
  return (
    <>
      {(from ?? to) !== null && (
        <p class="quiet">
          Read <a href={linkTo('time', '', { from, to })}>{periodOf(from, to)}</a>
        </p>
      )}
      <ul class="page-list">
        {pages.map((page) => (
          <PageRow key={page.page_id} page={page} domain={page.domain}>
            <span class="quiet">{daysOf(page)}</span>
          </PageRow>
        ))}
      </ul>
    </>
  );
}

const shownDays = 3;

/** The last days on which it was read. */
const daysOf = ({ visited_at }: AskedPage): string =>
  [...new Set(visited_at.map(dateOf))].slice(0, shownDays).join(' · ');
