/** Entry of the work threads: stateless tasks on index files and their content, which may be aborted. Loads fast. */
export { copyLiveRows, isIntact, loadRows, saveRows } from '../engine/vectors/row-tasks.ts';
export { mergeSegments, readSegment, writeSegment } from '../engine/words/segment-tasks.ts';
