/** Finds the program's own files. In a bundle, the place of a module does not show where they are. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const own = fileURLToPath(import.meta.url);
export const isSource = own.endsWith('.ts');

/** The folder of package.json. */
export const programDir = folderAbove(dirname(own));

function folderAbove(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : folderAbove(dirname(dir));
}

/** Whether threads and processes start from sources, too. READBACK_THREADS=compiled saves tests a second for each. */
export const startsSource = isSource && process.env.READBACK_THREADS !== 'compiled';

/** The file of a module such as `threads/work-thread`, below src/ or dist/. */
export function programFile(module: string): URL {
  return pathToFileURL(join(programDir, startsSource ? `src/${module}.ts` : `dist/${module}.js`));
}
