/** The package has no types: lists by ISO 639-3 code, and a function. */
declare module 'stopword' {
  const exported: Record<string, unknown>;
  export = exported;
}
