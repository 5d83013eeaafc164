/** A start that takes long is no hang: it says how far it is. */

/** This often, ms. */
export const progressMs = 3000;

/** Do the work; `tell` is called every 3 s as long as it lasts. Errors: those of the work. */
export async function tellProgress<Result>(tell: () => void, work: () => Promise<Result>): Promise<Result> {
  const telling = setInterval(tell, progressMs);
  try {
    return await work();
  } finally {
    clearInterval(telling);
  }
}
