/** All tools, those that change nothing first. */
import { changingTools } from './changing-tools.ts';
import { readingTools } from './reading-tools.ts';
import type { Tool } from './tool.ts';

export const tools: readonly Tool[] = [...readingTools, ...changingTools];
