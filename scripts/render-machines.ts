// docs/machines.md from the machines' definitions. A test compares the file with what this returns.
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { backfillMachine } from '../src/machines/backfill.ts';
import { breakerMachine } from '../src/machines/breaker.ts';
import { jobMachine } from '../src/machines/job.ts';
import { libraryMachine } from '../src/machines/library.ts';
import { modelMachine } from '../src/machines/model.ts';
import { pageMachine } from '../src/machines/page.ts';
import { tombstoneMachine } from '../src/machines/tombstone.ts';
import { watchMachine } from '../src/machines/watch.ts';
import { createWriterMachine } from '../src/machines/writer.ts';

const head = ['| State | Event | Only if | Next state | Actions |', '| --- | --- | --- | --- | --- |'];

const nameOf = (part: unknown): string =>
  typeof part === 'string' ? part : String((part as { type?: unknown } | undefined)?.type ?? '');

/** Event names that the library makes up, said in words. */
function eventName(descriptor: string, node: AnyStateNode): string {
  if (descriptor === '') return 'at once';
  const after = /^xstate\.after\.(.+)\.[^.]*(?:\..*)?$/.exec(descriptor);
  if (after !== null) return `after ${after[1].split('.')[0]}`;
  if (descriptor.startsWith('xstate.done.state')) return 'all inside have ended';
  const actor = /^xstate\.(done|error)\.actor\./.exec(descriptor);
  if (actor !== null) return `${nameOf(node.invoke[0]?.src)} ${actor[1] === 'done' ? 'is done' : 'throws'}`;
  return descriptor;
}

const backTicked = (text: string): string => (text === '' ? '' : `\`${text}\``);

/** A target is named from the outermost state that it does not share with where the event came. */
function targetName(target: AnyStateNode, from: AnyStateNode): string {
  let shared = 0;
  while (shared < target.path.length - 1 && target.path[shared] === from.path[shared]) shared++;
  return target.path.slice(shared).join('.');
}

function row(node: AnyStateNode, label: string, transition: AnyTransitionDefinition, descriptor: string): string {
  const cells = [
    backTicked(label),
    backTicked(eventName(descriptor, node)),
    backTicked(nameOf(transition.guard)),
    transition.target === undefined
      ? 'stays'
      : transition.target.map((target) => backTicked(targetName(target, node))).join(', '),
    transition.actions.map((action) => backTicked(nameOf(action))).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The actions of entering or leaving a state, if there are any besides those that the library adds for its timers. */
function named(when: string, actions: readonly unknown[], label: string): string[] {
  const names = actions.map(nameOf).filter((name) => !name.startsWith('xstate.'));
  return names.length === 0
    ? []
    : [`| ${backTicked(label)} | ${backTicked(when)} |  |  | ${names.map(backTicked).join(', ')} |`];
}

/** One row per transition of a state and of those inside it, in the order of the definition. */
function rows(node: AnyStateNode, label: string): string[] {
  const always = (node.always ?? []).map((transition) => row(node, label, transition, ''));
  const own = [...node.transitions].flatMap(([descriptor, transitions]) =>
    transitions.map((transition) => row(node, label, transition, descriptor)),
  );
  const entering = named('entering', node.entry, label);
  const leaving = named('leaving', node.exit, label);
  const none = own.length + always.length === 0 && Object.keys(node.states).length === 0;
  const ending = none ? [`| ${backTicked(label)} | none | | | |`] : [];
  const inner = Object.values(node.states).flatMap((child) =>
    rows(child, label === '' ? child.key : `${label}.${child.key}`),
  );
  return [...entering, ...always, ...own, ...leaving, ...ending, ...inner];
}

function section(title: string, text: string, lines: string[]): string {
  return [`## ${title}`, '', text, '', ...head, ...lines].join('\n');
}

const tableOf = (machine: AnyStateMachine): string[] => rows(machine.root, '');

export function renderMachines(): string {
  return `${[
    '# The machines',
    'Made by `npm run docs` from the definitions in `src/machines`. What holds in each state stands at the head of each file. An event that a state has no row for, or whose conditions do not hold, is refused and changes nothing. Of several rows for one event the first whose condition holds counts.',
    section(
      'Job',
      'The life of a row of the ledger (`src/machines/job.ts`). Every change is compared and set against the stored row inside the transaction; events of a running attempt carry its claim and are refused under another one.',
      tableOf(jobMachine),
    ),
    section(
      'Page',
      'A page follows the job that indexes it, in the same transaction (`src/machines/page.ts`): its events are the statuses that the job comes to.',
      tableOf(pageMachine),
    ),
    section(
      'Watch',
      'When a source is polled and how its latest poll ended (`src/machines/watch.ts`, docs/watches.md). Events of a poll carry its job and are refused under another one. `due` and `runNow` start a poll, or only move the schedule where one is in flight.',
      tableOf(watchMachine),
    ),
    section(
      'Model',
      'What may be done with an embedding model of the registry (`src/machines/model.ts`). It follows its backfill: `backfill.running` says that this runs now. Which one is active is a pointer beside the rows.',
      tableOf(modelMachine),
    ),
    section(
      'Backfill',
      'How a model comes to have vectors of every page (`src/machines/backfill.ts`); without a row it is `not_started`. It follows its job when that dies or is retried.',
      tableOf(backfillMachine),
    ),
    section(
      'Tombstone',
      'How far the erasure of a forgotten page is (`src/machines/tombstone.ts`, docs/forgetting.md).',
      tableOf(tombstoneMachine),
    ),
    section('Breaker', 'One per outside provider (`src/machines/breaker.ts`).', tableOf(breakerMachine)),
    section(
      'Writer',
      'One batch at a time goes into a transaction while the next one gathers (`src/machines/writer.ts`).',
      tableOf(createWriterMachine()),
    ),
    section(
      'Library',
      'A library in its host: opened, and opened again when it breaks (`src/machines/library.ts`).',
      tableOf(libraryMachine),
    ),
  ].join('\n\n')}\n`;
}
