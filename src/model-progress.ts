/** Shows the one long step of a first start, compiling the word vectors: a bar on a terminal, a line every tenth elsewhere. */
import type { WordVectorsProgress } from './providers/word-vectors-cache.ts';

const barWidth = 30;

/** `stream` is standard error; `isTTY` says whether a line can be drawn over. */
export function modelProgress(
  stream: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>,
): (progress: WordVectorsProgress) => void {
  let shownTenth = -1;
  let saidWaiting = false;
  return (progress) => {
    if (progress.phase === 'rebuilding') {
      stream.write(`the compiled word vectors are damaged (${progress.reason}); compiling them again\n`);
    } else if (progress.phase === 'waiting') {
      if (!saidWaiting) stream.write('another process compiles the word vectors; waiting for it …\n');
      saidWaiting = true;
    } else {
      const share = progress.bytesRead / progress.bytesTotal;
      const tenth = Math.floor(share * 10);
      if (stream.isTTY) {
        const filled = Math.round(share * barWidth);
        const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
        stream.write(`\rcompiling word vectors, once  ${bar} ${Math.floor(share * 100)} %${share >= 1 ? '\n' : ''}`);
      } else if (tenth > shownTenth) {
        shownTenth = tenth;
        stream.write(`compiling word vectors, once: ${tenth * 10} %\n`);
      }
    }
  };
}
