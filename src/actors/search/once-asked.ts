/**
 * Do work of the main thread beside the threads that have just been asked. `ask` is some microtasks away from its message; what is
 * done before the turn ends would hold that up, so the work waits for the next one.
 */
export async function onceAsked<Result>(work: () => Result): Promise<Result> {
  await new Promise(setImmediate);
  return work();
}
