// Makes the browser extension: a folder for each kind of browser, as it is loaded, and a zip of it, as stores take it. One source, two manifests.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';

const pages = ['popup', 'options', 'welcome'];

/** Preact without its way from text to markup, which no page of ours takes: stores look for it, and what is not there cannot be abused. */
const preactWithoutMarkup = {
  name: 'preact-without-markup',
  setup({ onLoad }) {
    onLoad({ filter: /preact[\\/]dist[\\/]preact\.mjs$/ }, ({ path }) => {
      const [before, after, ...more] = readFileSync(path, 'utf8').split(/\b\w+\.innerHTML=\w+\.__html/);
      if (after === undefined || more.length > 0)
        return { errors: [{ text: 'Preact is written otherwise: look for innerHTML in it' }] };
      return { contents: `${before}(()=>{throw Error("markup is not rendered")})()${after}` };
    });
  },
};

/** What all browsers read. */
const shared = (version) => ({
  manifest_version: 3,
  name: '__MSG_name__',
  description: '__MSG_description__',
  version,
  default_locale: 'en',
  icons: { 16: 'icons/16.png', 32: 'icons/32.png', 48: 'icons/48.png', 128: 'icons/128.png' },
  action: {
    default_popup: 'popup.html',
    default_title: '__MSG_name__',
    default_icon: { 16: 'icons/16.png', 32: 'icons/32.png' },
  },
  options_ui: { page: 'options.html', open_in_tab: true },
  omnibox: { keyword: 'rb' },
  incognito: 'not_allowed',
  commands: {
    'save-page': { suggested_key: { default: 'Alt+Shift+S' }, description: '__MSG_command_save__' },
    _execute_action: { suggested_key: { default: 'Alt+Shift+R' } },
  },
  content_scripts: [{ matches: ['http://*/*', 'https://*/*'], js: ['content.js'], run_at: 'document_idle' }],
  permissions: ['storage', 'unlimitedStorage', 'alarms', 'contextMenus', 'activeTab', 'scripting'],
  host_permissions: ['http://127.0.0.1/*', 'http://localhost/*'],
  optional_permissions: ['history', 'bookmarks'],
  optional_host_permissions: ['http://*/*', 'https://*/*'],
  content_security_policy: {
    extension_pages:
      "default-src 'self'; connect-src http: https:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  },
});

function manifestOf(version, special) {
  const common = shared(version);
  const permissions = [...common.permissions, ...('side_panel' in special ? ['sidePanel'] : [])];
  return { ...common, ...special, permissions };
}

const own = {
  // `visibilityProperty` of `checkVisibility`: 121 and later.
  chromium: {
    minimum_chrome_version: '121',
    background: { service_worker: 'background.js', type: 'module' },
    side_panel: { default_path: 'panel.html' },
  },
  firefox: {
    background: { scripts: ['background.js'], type: 'module' },
    // Asks for consent to what it sends (`data_collection_permissions`) on Android, too: 142 and later.
    browser_specific_settings: {
      gecko: {
        id: 'extension@readback',
        strict_min_version: '142.0',
        data_collection_permissions: {
          required: ['browsingActivity', 'websiteContent', 'searchTerms'],
          optional: ['bookmarksInfo'],
        },
      },
    },
  },
};

/** `kind`: class of its body. */
const page = (name, kind = name) => `<!doctype html>
<html>
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>readback</title>
    <link rel="stylesheet" href="ui.css" />
  </head>
  <body class="${kind}">
    <div id="app"></div>
    <script type="module" src="${name}.js"></script>
  </body>
</html>
`;

/** Every file below a folder, as names with slashes and bytes. */
function filesOf(dir) {
  return Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(dir.length + 1).replaceAll('\\', '/'), readFileSync(path)]),
  );
}

/** Build from `root`/extension into `outdir`/{chromium,firefox} and a zip beside each. Errors: esbuild's, which it has printed. */
export async function bundleExtension(root, outdir) {
  const source = join(root, 'extension');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [browser, special] of Object.entries(own)) {
    const dir = join(outdir, browser);
    mkdirSync(dir, { recursive: true });
    const common = {
      absWorkingDir: root,
      outdir: dir,
      bundle: true,
      target: browser === 'chromium' ? 'chrome121' : 'firefox142',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      legalComments: 'none',
      logLevel: 'warning',
      plugins: [preactWithoutMarkup],
    };
    await build({
      ...common,
      format: 'esm',
      entryPoints: [
        'extension/src/background.ts',
        ...pages.map((name) => `extension/src/ui/${name}.tsx`),
        'extension/src/ui/ui.css',
      ],
      entryNames: '[name]',
    });
    // A content script is no module. Every page compiles it anew.
    const contentScripts = ['extension/src/capture/content.ts', 'extension/src/engines/box.ts'];
    await build({ ...common, format: 'iife', minify: true, entryPoints: contentScripts, entryNames: '[name]' });
    for (const name of pages) writeFileSync(join(dir, `${name}.html`), page(name));
    if ('side_panel' in special) writeFileSync(join(dir, 'panel.html'), page('popup', 'popup panel'));
    cpSync(join(source, '_locales'), join(dir, '_locales'), { recursive: true });
    cpSync(join(source, 'icons'), join(dir, 'icons'), { recursive: true });
    writeFileSync(join(dir, 'manifest.json'), `${JSON.stringify(manifestOf(version, special), null, 2)}\n`);
    // A fixed time: the same sources give the same bytes.
    writeFileSync(join(outdir, `${browser}.zip`), zipSync(filesOf(dir), { level: 9, mtime: '2020-01-01T00:00:00Z' }));
  }
}
