/** For `await using`: closes it at the end of the block. */
export function closing<Opened extends { close(): Promise<unknown> }>(opened: Opened): Opened & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: async () => void (await opened.close()) });
}
