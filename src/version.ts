/** The version of the program, from package.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programDir } from './files/program-files.ts';

export const { version } = JSON.parse(readFileSync(join(programDir, 'package.json'), 'utf8')) as { version: string };
