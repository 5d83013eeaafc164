/**
 * Entry of a child process: compile one embeddings JSON into a cache file, so that the parent's event loop and heap stay
 * free. Gets its task as one message, reads synchronously, reports bytes read; the file is complete, though perhaps not on the disk, when
 * it sends `done`. It writes only the temporary path it is handed, and removes it when nobody is left to put it in its place.
 */
import { closeSync, fstatSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { readEmbeddingsJson } from '../compute/embedding/read-embeddings-json.ts';
import { encodeWordVectors } from '../compute/embedding/word-vectors.ts';
import { errorMessage } from '../domain/error-message.ts';

export interface CompileTask {
  jsonPath: string;
  packageVersion: string;
  targetPath: string;
}

export type CompileMessage = { bytesRead: number; bytesTotal: number } | { done: true } | { failed: string };

/** Progress is reported each time this many more bytes are read. */
const REPORT_EVERY_BYTES = 4 << 20;

process.once('message', (task: CompileTask) => {
  report(compile(task), (error) => {
    if (error !== null) rmSync(task.targetPath, { force: true });
    if (process.connected) process.disconnect();
  });
});

function compile({ jsonPath, packageVersion, targetPath }: CompileTask): CompileMessage {
  try {
    const file = encodeWordVectors({ packageVersion, ...readSource(jsonPath) });
    // 'wx': the name is unique to this compilation, so whatever lies there is not ours to overwrite.
    writeFileSync(targetPath, file, { flag: 'wx', mode: 0o600 });
    return { done: true };
  } catch (error) {
    return { failed: errorMessage(error) };
  }
}

function readSource(jsonPath: string): ReturnType<typeof readEmbeddingsJson> {
  const descriptor = openSync(jsonPath, 'r');
  try {
    const bytesTotal = fstatSync(descriptor).size;
    let bytesRead = 0;
    let reported = 0;
    const source = readEmbeddingsJson((target) => {
      const length = readSync(descriptor, target);
      bytesRead += length;
      if (bytesRead - reported >= REPORT_EVERY_BYTES) {
        reported = bytesRead;
        report({ bytesRead, bytesTotal }, ignore);
      }
      return length;
    });
    report({ bytesRead, bytesTotal }, ignore);
    return source;
  } finally {
    closeSync(descriptor);
  }
}

/** A report that nobody hears is no failure of the compilation; the last one notices that the parent is gone. */
function ignore(): void {}

function report(message: CompileMessage, onSent: (error: Error | null) => void): void {
  if (process.send === undefined) throw new Error('this module is the entry of a child process');
  process.send(message, undefined, undefined, onSent);
}
