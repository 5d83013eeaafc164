/**
 * Work that is done one piece after another, in the order in which it was asked for. A piece that fails is told to the one who asked for
 * it; the next has its turn all the same.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Do the work when all before it has ended. Errors: those of the work. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined); // told to the one who asked
    return done;
  }

  /** Resolves when all that was asked for until now has ended, well or not. */
  async ended(): Promise<void> {
    await this.#last;
  }
}
