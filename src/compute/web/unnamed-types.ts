/** Content types of servers that do not know, or do not want to say, what they send: storage of files, and links for downloading. */
export const unnamedTypes: readonly string[] = [
  'application/octet-stream',
  'binary/octet-stream',
  'application/force-download',
  'application/x-download',
  'application/download',
];
