/**
 * Reads transcripts in the HTML of the podcast namespace: `<cite>` names who speaks, `<time>` says since when, each `<p>` is a cue of
 * theirs. Other blocks are read like `<p>`.
 */
import { Parser } from 'htmlparser2';
import { type Cue, inOrder, oneLine, readClock, speakerName } from './cue.ts';

const blocks = new Set('p div li ul ol dl dd dt tr td blockquote section article h1 h2 h3 h4 h5 h6 br hr'.split(' '));
const silent = new Set(['script', 'style', 'title', 'template', 'noscript']);

/** Errors: none; a page without words gives no cues. */
export function readHtmlTranscript(html: string): Cue[] {
  const cues: Cue[] = [];
  let speaker: string | null = null;
  let startS: number | null = null;
  let said = '';
  /** The text of the `<cite>` or `<time>` that is open. */
  let note: { of: 'cite' | 'time'; text: string } | null = null;
  let silentIn: string | null = null;
  const flush = () => {
    const text = oneLine(said);
    said = '';
    if (text === '') return;
    cues.push({ startS, endS: null, speaker, text });
    startS = null;
  };
  const parser = new Parser(
    {
      onopentagname(name) {
        if (silent.has(name)) silentIn ??= name;
        if (name === 'cite' || name === 'time') {
          flush();
          note = { of: name, text: '' };
        } else if (blocks.has(name)) flush();
      },
      ontext(text) {
        if (silentIn !== null) return;
        if (note === null) said += text;
        else note.text += text;
      },
      onclosetag(name) {
        if (name === silentIn) silentIn = null;
        if (note !== null && name === note.of) {
          if (name === 'cite') speaker = speakerName(note.text);
          else startS = readClock(note.text.replace(/[[\]()]/g, ''));
          note = null;
        } else if (blocks.has(name)) flush();
      },
    },
    { decodeEntities: true },
  );
  parser.write(html.replace(/^\ufeff/, ''));
  parser.end();
  flush();
  return inOrder(cues);
}
