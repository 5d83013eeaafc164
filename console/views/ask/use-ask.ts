/**
 * A conversation about what was read. Each question is first answered by sentences of pages; then the language model
 * answers, too, if this browser allows passages to be sent to its host.
 */
import { useEffect, useRef } from 'preact/hooks';
import { knownZone } from '../../../src/compute/ranking/query-operators.ts';
import type { AskEvent, AskResponse, Generated, Sent } from '../../../src/domain/ask.ts';
import { ApiError, call, epoch, isAbort, stream, Unreachable } from '../../api/client.ts';
import { go, kept, stepNow, useKept } from '../../app/router.ts';
import { mayWrite } from '../../app/session.tsx';
import { type Criteria, filtersOf, linkOf } from '../search/criteria.ts';

type StreamEvent =
  | AskEvent
  | { event: 'done'; data: AskResponse }
  | { event: 'error'; data: { status: number; detail: string } };

type Written = Pick<Generated, 'sentences' | 'quotations'>;

export interface Turn {
  id: number;
  question: string;
  /** `asking`: for sentences of pages; `writing`: the language model answers. */
  state: 'asking' | 'writing' | 'done' | 'cancelled' | 'failed';
  error: unknown;
  answer: AskResponse | null;
  /** What the language model would get, if allowed. */
  offer: Sent | null;
  written: Written;
}

const path = '/v1/ask';
/** The service's limits. */
const maxTurns = 8;
const maxAnswer = 8000;
const asked: Omit<Turn, 'id' | 'question'> = {
  state: 'asking',
  error: undefined,
  answer: null,
  offer: null,
  written: { sentences: [], quotations: [] },
};

/** The user's choice for one host. */
const choiceKey = 'readback.language_model';
const choiceFor = (host: string) => ({ send: `send to ${host}`, keep: `keep from ${host}` });
export const maySendTo = (host: string): boolean => localStorage.getItem(choiceKey) === choiceFor(host).send;
const isChosen = (host: string): boolean =>
  Object.values(choiceFor(host)).includes(localStorage.getItem(choiceKey) ?? '');
const choose = (host: string, choice: 'send' | 'keep') => localStorage.setItem(choiceKey, choiceFor(host)[choice]);

/** The fields of a request that depend on the criteria. */
export const askedIn = (criteria: Criteria) => ({ filters: filtersOf(criteria), operators: true, ...knownZone() });

export const writtenIn = ({ answer, written }: Turn): Written => answer?.generated ?? written;

function textOf(turn: Turn): string {
  const { sentences } = writtenIn(turn);
  const texts = sentences.length > 0 ? sentences : (turn.answer?.quotes ?? []);
  return [...texts.map(({ text }) => text), ...(turn.answer?.pages ?? []).map(({ title }) => title ?? '')].join(' ');
}

export const isRunning = ({ state }: Turn): boolean => state === 'asking' || state === 'writing';
/** Whether the question is repeated when the service is back, or the user is signed in. */
export const isWaiting = ({ error }: Turn): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && error.status === 401);

export function useAsk(criteria: Criteria) {
  const [turns, setTurns] = useKept<readonly Turn[]>('turns', []);
  const running = useRef<AbortController | null>(null);
  const turnsNow = () => kept<readonly Turn[]>('turns') ?? [];
  const change = (id: number, part: Partial<Turn>) =>
    setTurns(turnsNow().map((turn) => (turn.id === id ? { ...turn, ...part } : turn)));

  /** `restarted`: a turn that is repeated at once. */
  const cancel = (restarted?: number) => {
    running.current?.abort();
    const before = turnsNow();
    if (before.some((turn) => isRunning(turn) && turn.id !== restarted))
      setTurns(before.map((turn) => (isRunning(turn) ? { ...turn, state: 'cancelled' } : turn)));
  };

  /** `offers`: only show what the language model would get. */
  const answer = async ({ id, question }: Turn, { offers = false } = {}) => {
    cancel(id);
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    const show = (part: Partial<Turn>) => {
      if (!signal.aborted) change(id, part);
    };
    const before = turnsNow();
    const quoted = before[id].answer;
    show({ ...asked, answer: quoted && { ...quoted, generated: null } });
    const earlier = before
      .slice(0, id)
      .map((turn) => ({ question: turn.question, answer: textOf(turn).slice(0, maxAnswer) }))
      .slice(-maxTurns);
    const body = { question, turns: earlier, ...askedIn(criteria) };
    const request = (fields: object) => call<AskResponse>('POST', path, { body: { ...body, ...fields }, signal });
    try {
      if (!offers) {
        const found = await request({});
        // Sending passages needs the scope `write`.
        const model = found.kind === 'quotes' && mayWrite() ? found.language_model : null;
        show({ answer: { ...found, language_model: model } });
        if (model !== null && maySendTo(model.host)) return await write({ ...body, use_model: true }, signal, show);
        if (model === null || isChosen(model.host)) return show({ state: 'done' });
      }
      const { sent } = await request({ use_model: true, preview: true });
      show({ state: 'done', offer: sent });
    } catch (error) {
      if (!isAbort(error)) show({ state: 'failed', error });
    }
  };

  const ask = (question: string) => {
    cancel();
    const before = turnsNow();
    const turn = { ...asked, id: before.length, question };
    setTurns([...before, turn]);
    // Reloading the page asks the first question.
    if (before.length === 0) go(linkOf({ ...criteria, query: question }, 'ask'), { replace: true });
    void answer(turn);
  };
  // A question in the address, an unanswered one, or one that waits for the service.
  useEffect(() => {
    const left = turnsNow().find((turn) => isRunning(turn) || isWaiting(turn));
    if (turnsNow().length === 0) {
      if (criteria.query.trim() !== '') ask(criteria.query.trim());
    } else if (left !== undefined) void answer(left);
    return () => running.current?.abort();
  }, [stepNow(), epoch.value]);

  return {
    turns,
    ask,
    cancel: () => cancel(),
    again: (turn: Turn) => void answer(turn),
    offer: (turn: Turn) => void answer(turn, { offers: true }),
    allow: (turn: Turn, host: string) => {
      choose(host, 'send');
      void answer(turn);
    },
    refuse: (turn: Turn, host: string) => {
      choose(host, 'keep');
      change(turn.id, { offer: null });
    },
  };
}

/** Shows the sentences of the language model as they arrive. */
async function write(body: object, signal: AbortSignal, show: (part: Partial<Turn>) => void): Promise<void> {
  show({ state: 'writing' });
  let { sentences, quotations }: Written = asked.written;
  for await (const { event, data } of stream<StreamEvent>(path, body, signal)) {
    if (event === 'error') throw new ApiError(data.status, data.detail, null);
    if (event === 'done') return show({ state: 'done', answer: data });
    if (event !== 'sentence') continue;
    const numbers = data.quotations.map(({ number }) => number);
    sentences = [...sentences, { text: data.text, quotations: numbers }];
    quotations = [...quotations.filter(({ number }) => !numbers.includes(number)), ...data.quotations];
    show({ written: { sentences, quotations } });
  }
  throw new Error('The answer ended early.');
}
