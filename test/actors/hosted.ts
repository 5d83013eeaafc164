/** Runs one actor as the supervisor's chart would: as a child whose events are kept, which can be stopped and started again. */
import { type AnyActorLogic, type AnyEventObject, assign, createActor, type SimulatedClock, setup } from 'xstate';
import type { Envelope } from '../../src/actors/system/service.ts';
import type { SystemMessageName, SystemReplyOf, SystemRequestOf } from '../../src/actors/system/system-messages.ts';

type Waiting = { match: (event: AnyEventObject) => boolean; resolve: (event: AnyEventObject) => void };

export class Hosted {
  /** What the child told its parent, in order. */
  readonly events: AnyEventObject[] = [];
  #waiting: Waiting[] = [];
  readonly #actor;

  constructor(logic: AnyActorLogic, clock?: SimulatedClock) {
    const machine = setup({
      types: { events: {} as AnyEventObject, context: {} as { lives: number } },
      actors: { child: logic },
      actions: { keep: ({ event }) => this.#keep(event) },
    }).createMachine({
      context: { lives: 1 },
      initial: 'up',
      states: {
        up: { invoke: { id: 'child', src: 'child' }, on: { 'host.end': 'down' } },
        down: {
          on: { 'host.start': { target: 'up', actions: assign({ lives: ({ context }) => context.lives + 1 }) } },
        },
      },
      on: { '*': { actions: 'keep' } },
    });
    this.#actor = createActor(machine, clock === undefined ? {} : { clock });
    this.#actor.start();
  }

  get child() {
    return this.#actor.getSnapshot().children.child;
  }

  send(event: AnyEventObject): void {
    this.child?.send(event);
  }

  /** Stop the child at once, as when a child around it crashes. */
  end(): void {
    this.#actor.send({ type: 'host.end' });
  }

  start(): void {
    this.#actor.send({ type: 'host.start' });
  }

  ask<Name extends SystemMessageName>(
    name: Name,
    request: SystemRequestOf<Name>,
    signal?: AbortSignal,
  ): Promise<SystemReplyOf<Name>> {
    return new Promise((resolve, reject) => {
      const envelope: Envelope = {
        type: 'request',
        name,
        request,
        signal,
        resolve: (reply) => resolve(reply as SystemReplyOf<Name>),
        reject,
      };
      this.send(envelope);
    });
  }

  /** The first event of this type, now or later. */
  async told(type: string): Promise<AnyEventObject> {
    const match = (event: AnyEventObject) => event.type === type;
    const already = this.events.find(match);
    if (already !== undefined) return already;
    return new Promise((resolve) => this.#waiting.push({ match, resolve }));
  }

  #keep(event: AnyEventObject): void {
    if (/^(host|xstate)\./.test(event.type)) return;
    this.events.push(event);
    const now = this.#waiting.filter(({ match }) => match(event));
    this.#waiting = this.#waiting.filter(({ match }) => !match(event));
    for (const { resolve } of now) resolve(event);
  }
}
