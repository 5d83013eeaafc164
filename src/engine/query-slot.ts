/** Where a searcher reads a query's vector. Shared memory: i32 state (0 waiting, 1 vector, 2 none), f32 numbers. */
export type QuerySlot = SharedArrayBuffer;

const WAITING = 0;
const VECTOR = 1;
const NONE = 2;
/** Max wait of a search for a vector that never comes, ms. */
const longestWaitMs = 60_000;

/** A slot that gets the vector, or nothing if there is none or making it fails. */
export function slotFor(vector: Promise<Float32Array | null>, dim: number): QuerySlot {
  const slot = new SharedArrayBuffer(4 + 4 * dim);
  const state = new Int32Array(slot, 0, 1);
  const settle = (made: Float32Array | null) => {
    if (made !== null) new Float32Array(slot, 4).set(made);
    Atomics.store(state, 0, made === null ? NONE : VECTOR);
    Atomics.notify(state, 0);
  };
  vector.then(settle, () => settle(null));
  return slot;
}

export async function vectorIn(slot: QuerySlot): Promise<Float32Array | null> {
  const state = new Int32Array(slot, 0, 1);
  const waiting = Atomics.waitAsync(state, 0, WAITING, longestWaitMs);
  if (waiting.async) await waiting.value;
  return Atomics.load(state, 0) === VECTOR ? new Float32Array(slot, 4) : null;
}
