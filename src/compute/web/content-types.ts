/** Generic types, as sent by file storage and download links. */
export const unnamedTypes: readonly string[] = [
  'application/octet-stream',
  'binary/octet-stream',
  'application/force-download',
  'application/x-download',
  'application/download',
];

/** `audio` types of playlists and note data. */
const noRecordings = /^audio\/(?:(?:x-)?mpegurl|(?:x-)?scpls|(?:x-|sp-)?midi)$/;
/** Types also used for recordings; the file extension decides. */
const vagueTypes = new Set(['', ...unnamedTypes, 'text/plain', 'video/mp4', 'application/mp4', 'video/ogg']);
const recordingEnding = /\.(?:mp3|m4a|m4b|aac|ogg|oga|opus|flac|wav|weba)$/i;

/** `type`: lower case, without parameters. */
export function isRecording(type: string, { pathname }: Pick<URL, 'pathname'>): boolean {
  if (type.startsWith('audio/')) return !noRecordings.test(type);
  return type === 'application/ogg' || (vagueTypes.has(type) && recordingEnding.test(pathname));
}

export function isRecordingAddress(url: string): boolean {
  return URL.canParse(url) && recordingEnding.test(new URL(url).pathname);
}
