/** A result, unless the signal comes first: then its reason, and the result is ignored. */
export function unlessAborted<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
  });
}
