/** Continues interrupted forgets at startup: purging rules before anything is served, the rest in the background. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { StoreReader } from '../../store/store.ts';
import { tellProgress } from '../system/background.ts';
import type { SystemAsk } from '../system/system-messages.ts';
import type { FileRewrite } from './file-rewrite.ts';
import type { RuleEraser } from './rule-eraser.ts';

export interface InterruptedForgetsDependencies {
  ask: SystemAsk;
  reader: StoreReader;
  eraser: RuleEraser;
  rewrite: FileRewrite;
  /** Aborted on stop: the next start continues. */
  ending: AbortSignal;
  log: Logger;
}

/** Retry time, ms. */
export const retryMs = 1000;

/**
 * Finish purges. Their pages are readable by id, so nothing is served before, however often this fails (a full disk, say). Errors: none;
 * ends early only on stop.
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
  log.info({ rules: rules.length }, 'an interrupted purge continues');
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

/** Continue the rest, which is unreadable. Returns whether it is done or must be retried. Errors: none. */
export async function takeUpRest(dependencies: InterruptedForgetsDependencies): Promise<boolean> {
  const { ask, reader, eraser, rewrite, ending, log } = dependencies;
  if (ending.aborted) return true;
  try {
    await eraser.noteSettings();
    const pages = await eraser.adoptOrphans();
    if (pages > 0) log.info({ pages }, 'an interrupted purge continues');
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
