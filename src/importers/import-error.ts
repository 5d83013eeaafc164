/** Why a source cannot be read: one line for the user. */
export class ImportError extends Error {
  readonly code = 'import';
}
