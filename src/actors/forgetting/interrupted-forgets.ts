/**
 * What the last process left undone of its forgets, taken up at the start: rules that are still purging, before anything is served,
 * and the rest beside the service. "What holds" 3 of docs/forgetting.md says what each crash leaves.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { StoreReader } from '../../store/store.ts';
import type { SystemAsk } from '../system/system-messages.ts';
import { tellProgress } from '../system/tell-progress.ts';
import type { FileRewrite } from './file-rewrite.ts';
import type { RuleEraser } from './rule-eraser.ts';

export interface InterruptedForgetsDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  eraser: RuleEraser;
  rewrite: FileRewrite;
  /** Aborted when the service is to stop: what is not done then is for the next start. */
  ending: AbortSignal;
  log: Logger;
}

/** Before what has failed is tried again, ms. */
export const retryMs = 1000;

/**
 * End the purges. Their pages could be read by their ids, so nothing is served before they are done, however often that fails (a full
 * disk, say). Errors: none; it ends undone only when the service is to stop.
 */
export async function finishPurges(dependencies: InterruptedForgetsDependencies): Promise<void> {
  const { reader, ending, log } = dependencies;
  while (!ending.aborted && reader.blacklist.purging().length > 0) {
    try {
      await erasePurging(dependencies);
    } catch (error) {
      if (ending.aborted) return;
      log.error(
        { err: error },
        'an interrupted purge could not be finished: tried again, and nothing is served before',
      );
      await delay(retryMs);
    }
  }
}

async function erasePurging({ reader, eraser, ending, log }: InterruptedForgetsDependencies): Promise<void> {
  const rules = reader.blacklist.purging();
  log.info({ rules: rules.length }, 'a purge that was interrupted goes on');
  const left = { rules: rules.length, pages: 0 };
  const tell = () => log.info({ rules_left: left.rules, pages_left: left.pages }, 'erasing what was being forgotten');
  await tellProgress(tell, async () => {
    for (const rule of rules) {
      await eraser.erase(rule, (pages) => {
        ending.throwIfAborted();
        left.pages = pages;
      });
      left.rules--;
    }
  });
}

/** Take up what else was left, of which nothing can be read: to whether that is done, or to be tried again. Errors: none. */
export async function takeUpRest(dependencies: InterruptedForgetsDependencies): Promise<boolean> {
  const { ask, reader, eraser, rewrite, ending, log } = dependencies;
  if (ending.aborted) return true;
  try {
    await eraser.noteSettings();
    const pages = await eraser.adoptOrphans();
    if (pages > 0) log.info({ pages }, 'a purge that was interrupted goes on');
    const { dropped, setAside } = await ask('index.heldAtStart', {});
    if ((dropped > 0 || setAside) && reader.tombstones.any()) rewrite.dueUntracked();
    else rewrite.due();
    return true;
  } catch (error) {
    if (ending.aborted) return true;
    log.warn({ err: error }, 'what an earlier process left of forgotten pages could not be taken up: tried again');
    return false;
  }
}
