/** Runs one service as its library would; what the library would hear of it is kept, and it can be stopped and started again. */
import {
  type RunningService,
  runService,
  type StartService,
  type SystemMessageName,
  type SystemReplyOf,
  type SystemRequestOf,
} from '../../src/actors/system/service.ts';

/** What a library hears of a service. */
export type Heard = { type: 'ready' } | { type: 'stopped' } | { type: 'crashed'; error: unknown };

export class Hosted {
  /** What was heard, in order. */
  readonly events: Heard[] = [];
  readonly #start: StartService;
  #service: RunningService;
  #waiting: { type: Heard['type']; resolve: (event: Heard) => void }[] = [];

  constructor(start: StartService) {
    this.#start = start;
    this.#service = this.#run();
  }

  /** Stop it in order; `stopped` is heard when that is done, `crashed` where it failed. */
  async stop(): Promise<void> {
    try {
      await this.#service.stop();
      this.#hear({ type: 'stopped' });
    } catch (error) {
      this.#hear({ type: 'crashed', error });
    }
  }

  /** Begin another life, as a library that is opened again does. */
  start(): void {
    this.#service = this.#run();
  }

  ask<Name extends SystemMessageName>(
    name: Name,
    request: SystemRequestOf<Name>,
    signal?: AbortSignal,
  ): Promise<SystemReplyOf<Name>> {
    return this.#service.handle(name, request, signal) as Promise<SystemReplyOf<Name>>;
  }

  /** The first event of this type, now or later. */
  async told(type: Heard['type']): Promise<Heard> {
    const already = this.events.find((event) => event.type === type);
    if (already !== undefined) return already;
    return new Promise((resolve) => this.#waiting.push({ type, resolve }));
  }

  #run(): RunningService {
    const service = runService(this.#start, (error) => this.#hear({ type: 'crashed', error }));
    service.ready.then(
      () => this.#hear({ type: 'ready' }),
      (error) => this.#hear({ type: 'crashed', error }),
    );
    return service;
  }

  #hear(event: Heard): void {
    this.events.push(event);
    const now = this.#waiting.filter(({ type }) => type === event.type);
    this.#waiting = this.#waiting.filter(({ type }) => type !== event.type);
    for (const { resolve } of now) resolve(event);
  }
}
