/** The version of this software, as package.json has it. */
import { createRequire } from 'node:module';

export const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
