// Makes dist/ of src/: a file for each program and thread, and what they share in chunks, packages included. A start reads some 70 files in place of two
// thousand, which takes two thirds of the time. Types are checked by `npm run types`.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Packages that stay where they are installed: with native parts, files or threads of their own. */
const external = [
  'hnswlib-node',
  'lmdb',
  'node-sqlite3-wasm',
  'piscina',
  'pino',
  'pdfjs-dist',
  'wink-nlp',
  'wink-eng-lite-web-model',
];

/** Modules that are started or loaded by their path: programs, and what tests take from dist/. */
const entries = [
  'main',
  'app',
  'cli/main',
  'composition/open-threads',
  'domain/errors',
  'composition/run-fsck',
  'store/look-process',
  'encoder/encoder',
  'encoder/encoder-process',
  'engine/search-index',
];

/** The n-grams of languages as text that is parsed: V8 takes 0.7 s to compile a literal of so many small objects, 0.25 s to parse them. */
const parsedNgrams = {
  name: 'parsed n-grams',
  setup(build) {
    build.onLoad({ filter: /[\\/]eld[\\/]src[\\/]ngrams[\\/]\w+\.js$/ }, async ({ path }) => {
      const { ngramsData } = await import(pathToFileURL(path).href);
      const text = JSON.stringify(JSON.stringify(ngramsData));
      return { contents: `export const ngramsData = JSON.parse(${text});` };
    });
  },
};

/** Of the languages in which zod can complain, the one in which it does. */
const englishOnly = {
  name: 'english only',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** Bundle the sources below `root` into the folder `outdir`. Errors: esbuild's, which it has printed. */
export async function bundle(root, outdir) {
  const threads = readdirSync(join(root, 'src', 'threads')).filter((name) => name.endsWith('-thread.ts'));
  const { outputFiles } = await build({
    write: false,
    absWorkingDir: root,
    entryPoints: [...entries.map((name) => `src/${name}.ts`), ...threads.map((name) => `src/threads/${name}`)],
    outbase: 'src',
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external,
    plugins: [parsedNgrams, englishOnly],
    // Packages of the older kind call `require` for what is built into Node.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'warning',
  });
  // The runtime of the encoder where the native one does not load.
  const runtime = join(outdir, 'onnxruntime-web');
  mkdirSync(runtime, { recursive: true });
  for (const name of ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'])
    copyFileSync(join(root, 'node_modules/onnxruntime-web/dist', name), join(runtime, name));
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, asciiOf(text));
  }
}

/**
 * V8 keeps a source as long as its program runs, in two bytes a character where one of them is not Latin-1. Of strings esbuild has escaped such
 * characters; what is left stands in comments and regular expressions, perhaps behind a backslash of its own.
 */
function asciiOf(source) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  return source.replace(/\\[\x00-\x7f]|\\?([^\x00-\x7f])/g, (found, unit) =>
    unit === undefined ? found : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
