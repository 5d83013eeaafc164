/** The supervisor's chart with children that do what the test says, under a clock that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyActorRef, createActor, fromCallback, SimulatedClock } from 'xstate';
import { FatalError } from '../../src/domain/errors.ts';
import { type ChildName, childNames, indexDependants, supervisorMachine } from '../../src/machines/supervisor.ts';

type Behaviour = 'ready' | 'slow start' | 'slow stop' | 'crash at start' | 'crash at stop';

const policy = { maxRestarts: 3, withinMs: 10_000, backoffMs: 100 };

class System {
  readonly clock = new SimulatedClock();
  /** What happened to the children since the last look. */
  #log: string[] = [];
  readonly alive = new Set<ChildName>();
  readonly behaviour: Record<ChildName, Behaviour>;
  readonly actor;

  constructor(behaviour: Partial<Record<ChildName, Behaviour>> = {}) {
    this.behaviour = {
      breakers: 'ready',
      writer: 'ready',
      indexes: 'ready',
      intake: 'ready',
      models: 'ready',
      queries: 'ready',
      retriever: 'ready',
      journal: 'ready',
      watches: 'ready',
      forgetting: 'ready',
      clusters: 'ready',
      events: 'ready',
      metrics: 'ready',
      entities: 'ready',
      scheduler: 'ready',
      ...behaviour,
    };
    const fake = (name: ChildName) =>
      fromCallback<{ type: string }>(({ sendBack, receive }) => {
        const crash = () => sendBack({ type: `crashed.${name}`, error: `${name} is broken` });
        this.#log.push(`start ${name}`);
        this.alive.add(name);
        receive(({ type }) => {
          if (type === 'throw') throw new Error(`${name} threw`);
          if (type === 'crash') return crash();
          if (type === 'ready') return sendBack({ type: `ready.${name}` });
          this.#log.push(`${type} ${name}`);
          if (this.behaviour[name] === 'crash at stop') crash();
          else if (this.behaviour[name] !== 'slow stop' || type !== 'stop') sendBack({ type: `stopped.${name}` });
        });
        if (this.behaviour[name] === 'crash at start') crash();
        else if (this.behaviour[name] !== 'slow start') sendBack({ type: `ready.${name}` });
        return () => this.alive.delete(name);
      });
    const actors = Object.fromEntries(childNames.map((name) => [name, fake(name)]));
    const actions = {
      reportCrash: (_: unknown, { child }: { child: ChildName }) => void this.#log.push(`crash ${child}`),
    };
    this.actor = createActor(supervisorMachine.provide({ actors, actions }), { input: { policy }, clock: this.clock });
    this.actor.start();
  }

  /** What happened since the last look, in order. */
  happened(): string[] {
    const log = this.#log;
    this.#log = [];
    return log;
  }

  tell(name: ChildName, type: 'throw' | 'crash' | 'ready' | 'stopped'): void {
    const children: Record<string, AnyActorRef | undefined> = this.actor.getSnapshot().children;
    children[name]?.send({ type });
  }

  get serving(): string[] {
    return [...this.actor.getSnapshot().context.serving].sort();
  }

  get state(): unknown {
    const { value, context } = this.actor.getSnapshot();
    return typeof value === 'string' ? [value, context.reason, [...this.alive]] : 'up';
  }
}

/** What goes on while the indexes are away. */
const beside = ['breakers', 'writer'];
const all = [...childNames].sort();
const each = (what: string, names: readonly string[]) => names.map((name) => `${what} ${name}`);

test('children start in the order of their dependence, each when the one around it is ready', () => {
  const system = new System({ writer: 'slow start', indexes: 'slow start' });
  assert.deepEqual(system.happened(), ['start breakers', 'start writer']);
  system.tell('writer', 'ready');
  assert.deepEqual(system.happened(), ['start indexes']);
  system.tell('indexes', 'ready');
  assert.deepEqual(system.happened(), each('start', indexDependants));
  assert.deepEqual(system.serving, all);
});

test('a child that crashes is started again after a while; those inside it too, its siblings go on', () => {
  const system = new System();
  system.happened();
  system.tell('scheduler', 'crash');
  assert.deepEqual(system.happened(), ['crash scheduler']);
  assert.deepEqual(
    system.serving,
    all.filter((name) => name !== 'scheduler'),
  );
  system.clock.increment(99);
  assert.deepEqual(system.happened(), []);
  system.clock.increment(1);
  assert.deepEqual(system.happened(), ['start scheduler']);
  assert.deepEqual(system.serving, all);

  system.tell('indexes', 'crash');
  assert.deepEqual(system.happened(), ['crash indexes']);
  assert.deepEqual([system.serving, [...system.alive]], [beside, beside]);
  system.clock.increment(200);
  assert.deepEqual(system.happened(), ['start indexes', ...each('start', indexDependants)]);
  assert.deepEqual(system.serving, all);
});

test('a child that throws is a child that crashed', () => {
  const system = new System();
  system.happened();
  system.tell('retriever', 'throw');
  assert.deepEqual(system.happened(), ['crash retriever']);
  assert.deepEqual(
    system.serving,
    all.filter((name) => name !== 'retriever'),
  );
  system.clock.increment(100);
  assert.deepEqual(system.happened(), ['start retriever']);
  assert.deepEqual(system.serving, all);
});

test('each crash of a row waits twice as long; crashes that are long past do not count', () => {
  const system = new System();
  for (const waitMs of [100, 200, 400]) {
    system.tell('queries', 'crash');
    system.clock.increment(waitMs - 1);
    assert.ok(!system.serving.includes('queries'), `${waitMs} ms`);
    system.clock.increment(1);
    assert.ok(system.serving.includes('queries'), `${waitMs} ms`);
  }
  system.clock.increment(policy.withinMs);
  for (let crash = 0; crash < 3; crash++) {
    system.tell('queries', 'crash');
    system.clock.increment(policy.withinMs);
  }
  system.tell('queries', 'crash');
  system.clock.increment(100);
  assert.deepEqual(system.serving, all);
});

test('a crash that no restart can mend stops the others in order at once', () => {
  const system = new System();
  system.happened();
  const failure = new FatalError('not on the disk', new Error('I/O error'));
  system.actor.send({ type: 'crashed.writer', error: failure });
  assert.deepEqual(system.happened(), ['crash writer', 'stop breakers']);
  const { status, value, context } = system.actor.getSnapshot();
  assert.deepEqual([status, value, context.reason, [...system.alive]], ['done', 'failed', failure, []]);
});

test('one crash too many: the others are stopped in order, and the system has failed with the reason', () => {
  const system = new System({ indexes: 'slow stop' });
  for (let crash = 0; crash < policy.maxRestarts; crash++) {
    system.tell('intake', 'crash');
    system.clock.increment(1000);
  }
  assert.deepEqual(system.serving, all);
  system.happened();
  system.tell('intake', 'crash');
  const others = indexDependants.filter((name) => name !== 'intake');
  assert.deepEqual(system.happened(), ['crash intake', 'stop breakers', ...each('stop', others), 'stop indexes']);
  system.tell('indexes', 'stopped');
  assert.deepEqual(system.happened(), ['stopped indexes', 'stop writer']);
  assert.deepEqual(system.state, ['failed', 'intake is broken', []]);
});

test('a child that cannot start makes the system fail after its restarts', () => {
  const system = new System({ indexes: 'crash at start' });
  for (let s = 0; s < 60; s++) system.clock.increment(1000);
  assert.deepEqual(
    system.happened().filter((line) => line.startsWith('start')),
    ['start breakers', 'start writer', ...Array.from({ length: policy.maxRestarts + 1 }, () => 'start indexes')],
  );
  assert.deepEqual(system.state, ['failed', 'indexes is broken', []]);
});

test('an orderly stop goes from the innermost outwards, and each waits for those inside it', () => {
  const system = new System({ scheduler: 'slow stop', indexes: 'slow stop' });
  system.happened();
  system.actor.send({ type: 'stop' });
  assert.deepEqual(system.happened(), ['stop breakers', ...each('stop', indexDependants)]);
  system.tell('scheduler', 'stopped');
  assert.deepEqual(system.happened(), ['stopped scheduler', 'stop indexes']);
  system.tell('indexes', 'stopped');
  assert.deepEqual(system.happened(), ['stopped indexes', 'stop writer']);
  assert.deepEqual(system.state, ['stopped', undefined, []]);
});

test('a stop while children start, or wait to start again, ends them', () => {
  const starting = new System({ indexes: 'slow start' });
  starting.happened();
  starting.actor.send({ type: 'stop' });
  assert.deepEqual(starting.happened(), ['stop breakers', 'stop indexes', 'stop writer']);
  assert.deepEqual(starting.state, ['stopped', undefined, []]);

  const waiting = new System();
  waiting.tell('indexes', 'crash');
  waiting.happened();
  waiting.actor.send({ type: 'stop' });
  waiting.clock.increment(60_000);
  assert.deepEqual(waiting.happened(), ['stop breakers', 'stop writer']);
  assert.deepEqual(waiting.state, ['stopped', undefined, []]);
});

test('a child that crashes after a stop was asked for is not started again, and the stop goes on', () => {
  const itself = new System({ indexes: 'crash at stop' });
  itself.happened();
  itself.actor.send({ type: 'stop' });
  itself.clock.increment(60_000);
  assert.deepEqual(itself.happened().slice(-3), ['stop indexes', 'crash indexes', 'stop writer']);
  assert.deepEqual(itself.state, ['stopped', undefined, []]);

  const around = new System({ scheduler: 'slow stop' });
  around.actor.send({ type: 'stop' });
  around.happened();
  around.tell('indexes', 'crash');
  around.clock.increment(60_000);
  assert.deepEqual(
    around.happened().filter((line) => line.startsWith('start')),
    [],
  );
  assert.deepEqual(around.state, ['stopped', undefined, []]);
});
