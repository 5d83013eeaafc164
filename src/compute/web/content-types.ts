/** What the content types of servers say: which answers and enclosures are sound recordings. */
/** Content types of servers that do not know, or do not want to say, what they send: storage of files, and links for downloading. */
export const unnamedTypes: readonly string[] = [
  'application/octet-stream',
  'binary/octet-stream',
  'application/force-download',
  'application/x-download',
  'application/download',
];

/** Of the type `audio`, but lists of addresses and notes for instruments. */
const noRecordings = /^audio\/(?:(?:x-)?mpegurl|(?:x-)?scpls|(?:x-|sp-)?midi)$/;
/** Types that servers give recordings, too; the ending of the address tells. */
const vagueTypes = new Set(['', ...unnamedTypes, 'text/plain', 'video/mp4', 'application/mp4', 'video/ogg']);
const recordingEnding = /\.(?:mp3|m4a|m4b|aac|ogg|oga|opus|flac|wav|weba)$/i;

/** `type`: in lower case, without parameters. */
export function isRecording(type: string, { pathname }: Pick<URL, 'pathname'>): boolean {
  if (type.startsWith('audio/')) return !noRecordings.test(type);
  return type === 'application/ogg' || (vagueTypes.has(type) && recordingEnding.test(pathname));
}

/** Whether an address alone says that a recording is there. */
export function isRecordingAddress(url: string): boolean {
  return URL.canParse(url) && recordingEnding.test(new URL(url).pathname);
}
