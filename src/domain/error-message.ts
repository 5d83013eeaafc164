/** What was thrown, said in words: an error's message, or what else it is, as anything may be thrown. */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
