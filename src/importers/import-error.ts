/** Why a source cannot be read: one line for the person who gave it. */
export class ImportError extends Error {
  readonly code = 'import';
}
