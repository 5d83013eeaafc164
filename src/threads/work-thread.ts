/** Entry of the work threads: stateless tasks on files of the index and what they hold, which may be aborted. Loads in no time. */
export { copyLiveRows, isIntact, loadRows, saveRows } from '../engine/vectors/row-tasks.ts';
export { mergeSegments, readSegment, writeSegment } from '../engine/words/segment-tasks.ts';
