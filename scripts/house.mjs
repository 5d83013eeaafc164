// Prints the size of the repository as JSON: files, lines and folders of its parts, words of the docs, and npm scripts. Counts what git tracks.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean);
const isCode = (file) => /\.(?:ts|tsx|mjs|css|html)$/.test(file);
const linesOf = (file) => readFileSync(file, 'utf8').split('\n').length - 1;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

function sizeOf(part) {
  const files = tracked.filter((file) => file.startsWith(`${part}/`) && isCode(file) && !file.includes('/fixtures/'));
  return { files: files.length, lines: sum(files.map(linesOf)), folders: new Set(files.map(dirname)).size };
}

const parts = Object.fromEntries(
  ['src', 'test', 'console', 'extension', 'scripts', 'bench'].map((part) => [part, sizeOf(part)]),
);
const pages = tracked.filter(
  (file) => file.endsWith('.md') && !file.startsWith('bench/results/') && !/fixtures/.test(file),
);
console.log(
  JSON.stringify(
    {
      ...parts,
      test_per_src_line: Math.round((100 * parts.test.lines) / parts.src.lines) / 100,
      docs: {
        pages: pages.length,
        words: sum(pages.map((page) => readFileSync(page, 'utf8').split(/\s+/).filter(Boolean).length)),
      },
      npm_scripts: Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts).length,
    },
    null,
    2,
  ),
);
