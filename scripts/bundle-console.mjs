// Makes dist/console/ of console/: hashed scripts, styles and fonts in assets/, the page that names them, its service worker, manifest and icons. The
// page names the first script only; what it loads later carries its hash in its name, too.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Bundle the console below `root` into `outdir`. Errors: esbuild's, which it has printed. */
export async function bundleConsole(root, outdir) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: 'console/main.tsx' },
    outdir: join(outdir, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    loader: { '.woff2': 'file' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'console/main.tsx');
  const [script, { cssBundle, imports }] = entry;
  const asset = (path) => `/assets/${basename(path)}`;
  const first = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path);
  const tags = {
    '<!-- styles -->': `<link rel="stylesheet" href="${asset(cssBundle)}" />`,
    '<!-- scripts -->': [
      ...first.map((path) => `<link rel="modulepreload" href="${asset(path)}" />`),
      `<script type="module" src="${asset(script)}"></script>`,
    ].join('\n    '),
  };
  let page = readFileSync(join(root, 'console', 'index.html'), 'utf8');
  for (const [mark, text] of Object.entries(tags)) page = page.replace(mark, text);
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, 'index.html'), page);
  const shell = [script, cssBundle, ...first].map(asset);
  const version = createHash('sha256').update(page).digest('base64url');
  const worker = readFileSync(join(root, 'console', 'service-worker.js'), 'utf8');
  const constants = `const version = ${JSON.stringify(version)};\nconst shell = ${JSON.stringify(shell)};\n`;
  writeFileSync(join(outdir, 'service-worker.js'), constants + worker);
  for (const name of ['favicon.svg', 'manifest.webmanifest', 'icon-192.png', 'icon-512.png', 'icon-maskable.png'])
    copyFileSync(join(root, 'console', name), join(outdir, name));
}
