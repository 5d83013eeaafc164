/** A local web server that stands for the sites that people visit: fixed pages, and what a test adds. Every host name leads to it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../scope.ts';

const paragraphs = (topic: string, count = 12): string =>
  Array.from(
    { length: count },
    (_, n) =>
      `<p>Paragraph ${n} about ${topic}: herons wade slowly, and the ${topic} of the valley is told in part ${n}.</p>`,
  ).join('');

export const article = (topic: string, more = ''): string =>
  `<!doctype html><html lang="en"><head><title>All about ${topic}</title></head><body><article><h1>All about ${topic}</h1>${paragraphs(topic)}</article>${more}</body></html>`;

/** Its `og:title` is of the view that was loaded. */
const singlePageProgram = `<!doctype html><title>Program</title><meta property="og:title" content="View tides of the sea"><main id="main"></main><script>
  function show(name) {
    document.title = 'View ' + name;
    document.getElementById('main').innerHTML = '<article><h1>View ' + name + '</h1>' + '<p>What the view ' + name + ' tells of tides and moons.</p>'.repeat(8) + '</article>';
  }
  show(location.pathname.slice(5));
  addEventListener('popstate', () => show(location.pathname.slice(5)));
  function go(name) { history.pushState(null, '', '/spa/' + name); show(name); }
</script>`;

const shadowRoots = `<!doctype html><html><head><title>Shadow roots</title><style>p { color: green }</style></head><body>
<article><h1>Shadow roots</h1><p>Light text that everybody sees.</p>
<x-open><p slot="part">A slotted paragraph about granite.</p></x-open><x-closed>Bilberries without a slot.</x-closed><x-slots>Slotted text about marble.</x-slots>
<p style="display:none">Hidden marmalade.</p>
<p style="visibility:hidden">Invisible turnips, <span style="visibility:visible">and radishes that are visible within them.</span></p>
<details><summary>A summary about limestone.</summary>Closed damsons. <b style="display:contents">Closed sloes.</b></details>
<div style="content-visibility:hidden">Skipped mulberries <b style="display:contents">and rowans.</b></div><textarea>Draft of a letter to the harbour.</textarea><input value="typed zebra">
<div contenteditable>Edited walnuts.</div><script>var secretScript = 'obsidian';</script>
<iframe src="/frame" title="same"></iframe><iframe srcdoc="<p>Inline frame about basalt.</p>"></iframe><iframe src="http://other.example.net/foreign"></iframe></article>
<script>
  customElements.define('x-open', class extends HTMLElement { connectedCallback() {
    this.attachShadow({ mode: 'open' }).innerHTML = '<style>b{}</style><p>Open shadow text about quartz.</p><slot name="part"></slot>'; } });
  customElements.define('x-closed', class extends HTMLElement { connectedCallback() {
    this.attachShadow({ mode: 'closed' }).innerHTML = '<p>Closed shadow text about feldspar.</p>'; } });
  customElements.define('x-slots', class extends HTMLElement { connectedCallback() {
    this.attachShadow({ mode: 'closed' }).innerHTML = '<slot></slot>'; } });
</script></body></html>`;

/** Of the page at `/shadow`: what is shown, and what is not. */
export const shownWords: readonly string[] = 'Light text,quartz,granite,marble,amber,basalt,radishes,limestone'.split(
  ',',
);
export const hiddenWords: readonly string[] =
  'feldspar,marmalade,turnips,damsons,sloes,mulberries,rowans,[Bb]ilberries,harbour,zebra,walnuts,obsidian,topaz,color: green'.split(
    ',',
  );

/** Words of the page at `/unseen`, each in an element of a style: whether somebody can read it there. */
const styles: [word: string, isSeen: boolean, style: string][] = [
  ['bluebells', true, ''],
  ['primroses', true, 'opacity: 0; transition: opacity 1s'],
  ['cowslips', true, 'opacity: 0; animation: fade 1s 9000s'],
  ['campions', true, 'opacity: 0; transform: translateY(20px)'],
  ['foxgloves', true, 'opacity: 0; will-change: opacity, transform'],
  ['harebells', true, 'opacity: .5'],
  ['marigolds', true, 'color: transparent; background: linear-gradient(red, blue); background-clip: text'],
  ['poppies', true, 'position: relative; left: -20px'],
  ['cornflowers', true, 'height: 20px; overflow: hidden'],
  ['snowdrops', true, 'clip: rect(0, 0, 0, 0)'], // says nothing of what is not positioned
  ['crocuses', true, 'clip-path: inset(0 40% 0 0)'],
  ['tulips', true, 'position: absolute; top: 9000px'],
  ['lilies', true, 'transform: translateX(-3000px)'],
  ['thistles', false, 'opacity: 0'],
  ['teasels', false, 'opacity: .01'],
  ['ivies', false, 'opacity: 0; transition: opacity 1s; position: absolute'],
  ['docks', false, 'opacity: 0; transition: opacity 1s; position: fixed'],
  ['nettles', false, 'font-size: 0'],
  ['sorrels', false, 'font-size: 1px'],
  ['brambles', false, 'position: absolute; left: -9999px'],
  ['gorses', false, 'position: absolute; top: -9999px'],
  ['brooms', false, 'position: fixed; left: 9999px'],
  ['heathers', false, 'position: fixed; transform: translateX(-100%)'],
  ['bracken', false, 'text-indent: -9999px; white-space: nowrap'],
  ['hollies', false, 'position: absolute; clip: rect(0, 0, 0, 0)'],
  ['hawthorns', false, 'clip-path: inset(50%)'],
  ['junipers', false, 'position: absolute; width: 1px; height: 1px; overflow: hidden'],
  ['yews', false, 'height: 0; overflow: hidden'],
  ['elders', false, 'position: absolute; left: -9999px; width: 300px; overflow: hidden'],
];

const unseen = (): string =>
  article(
    'flowers',
    `<style>@keyframes fade { to { opacity: 1 } }</style><meta name="csrf-token" content="violets"><meta name="user-login" content="violets">`,
  ).replace(
    '</article>',
    `${styles.map(([word, , style]) => `<p style="${style}">Here is a sentence of this page about ${word}, as long as sentences are.</p>`).join('')}
    <div style="opacity: 0"><p style="opacity: 1">Within what is not seen there is a sentence about alders.</p></div>
    <div style="font-size: 0"><p style="font-size: 16px">Within what is too small there is a sentence about peonies.</p></div>
    <div id="box" style="height: 60px; overflow: auto"><p>At the beginning of what is scrolled there are asters.</p><p style="height: 500px">And at its end there are dahlias.</p></div>
    <div style="height: 60px; overflow: auto; display: flex; flex-direction: column-reverse"><p>The newest message is about anemones.</p><p style="flex: none; height: 500px">An older one is about begonias.</p><p>And the oldest is about dogwoods.</p></div>
    <div style="width: 90px; overflow: auto; display: flex; flex-direction: row-reverse"><p style="flex: none; width: 500px">The newest picture is of gentians.</p><p style="flex: none; width: 500px">An older one is of hyacinths.</p></div>
    <div style="width: 90px; height: 90px; overflow: auto; writing-mode: vertical-rl"><p style="width: 500px">Lines begin at the right and tell of irises.</p><p>And they end at the left with jasmine.</p></div>
    <p>A formula: <span style="position: absolute; width: 1px; height: 1px; overflow: hidden"><math><mi>zinnias</mi></math></span>.</p>
    <iframe width="0" height="0" srcdoc="<p>In a frame of no size there is a sentence about willows.</p>"></iframe>
    <script>box.scrollTop = 400</script></article>`,
  );
const wordsSeen = (isSeen: boolean): string[] => styles.flatMap(([word, is]) => (is === isSeen ? [word] : []));
export const seenWords: readonly string[] = [
  ...wordsSeen(true),
  'peonies',
  'asters',
  'dahlias',
  'anemones',
  'begonias',
  'dogwoods',
  'gentians',
  'hyacinths',
  'irises',
  'jasmine',
  'zinnias',
];
export const unseenWords: readonly string[] = [...wordsSeen(false), 'alders', 'willows', 'violets'];

const login = article(
  'gardens',
  '<form><input name="user"><input type="password" name="pass"><button>Sign in</button></form>',
);
const hiddenLogin = article(
  'meadows',
  '<form style="display:none"><input name="user"><input type="password" name="pass"></form>',
);
/** A sign-in form in a shadow root of one mode, in an element of one style. */
const rootLogin = (mode: 'open' | 'closed', style: string, value: string): string =>
  article(
    `${mode} roots`,
    `<div style="${style}"><div id="host"></div></div><script>
      const root = document.getElementById('host').attachShadow({ mode: '${mode}' });
      root.innerHTML = '<form><input name="user"><input type="password" name="pass"></form>';
      root.querySelector('[name=pass]').value = '${value}';
    </script>`,
  );
const card = article('bicycles', '<form><input autocomplete="cc-number"><input autocomplete="cc-csc"></form>');

/** Frames in which people write, as editors make them. */
const editors = article('dormice').replace(
  '</article>',
  `<iframe id="design"></iframe><iframe srcdoc="<html contenteditable><body><p>Typed text about hazelnuts.</p></body></html>"></iframe>
  <iframe srcdoc="<p>Framed text about beechnuts.</p>"></iframe></article><script>
    const edited = document.getElementById('design').contentDocument;
    edited.body.innerHTML = '<p>Typed text about chestnuts.</p>';
    edited.designMode = 'on';
  </script>`,
);

/** A login form of the same site in an element that is not written. */
const embeddedLogin = (tag: string): string =>
  article('pikas', `<${tag}="/members" type="text/html" width="300" height="300">`);

/** Is written anew when it is told to. */
export const rewritten = (more: string): string =>
  article(
    'lynxes',
    `${more}<script>
      addEventListener('rewrite', () => {
        document.open();
        document.write('<title>All about ocelots</title><p>Ocelots hunt at night.</p><div style="height: 9000px"></div><p>Their last paragraph.</p>');
        document.close();
      });
    </script>`,
  );

const feed = `<!doctype html><title>Endless feed</title><main></main><script>
  let n = 0;
  function more() { for (let i = 0; i < 20; i++) { const p = document.createElement('p'); p.textContent = 'Post ' + n++ + ' of the endless feed about lanterns and trains.'; document.querySelector('main').append(p); } }
  more(); more();
  addEventListener('scroll', () => { if (innerHeight + scrollY > document.documentElement.scrollHeight - 500) more(); });
</script>`;

/** 6 MB in 4,000 paragraphs, of which two thirds are names of classes. */
const huge = (): string =>
  `<!doctype html><title>Huge</title><article>${`<p class="${'x'.repeat(1000)}">${'A very long page tells of glaciers and their slow ways. '.repeat(9)}</p>`.repeat(4000)}</article>`;

const fixed: Record<string, () => string> = {
  '/shadow': () => shadowRoots,
  '/unseen': unseen,
  '/frame': () => '<!doctype html><title>Frame</title><p>Framed text about amber.</p>',
  '/foreign': () => '<!doctype html><title>Foreign</title><p>Foreign text about topaz.</p>',
  '/members': () => login,
  '/hidden-login': () => hiddenLogin,
  '/pay-by-card': () => card,
  '/open-login': () => rootLogin('open', '', ''),
  '/closed-login': () => rootLogin('closed', '', ''),
  '/hidden-open-login': () => rootLogin('open', 'display:none', 'typed'),
  '/hidden-closed-login': () => rootLogin('closed', 'display:none', 'typed'),
  '/hidden-empty-login': () => rootLogin('closed', 'display:none', ''),
  '/editors': () => editors,
  '/object-login': () => embeddedLogin('object data'),
  '/embed-login': () => embeddedLogin('embed src'),
  '/feed': () => feed,
  '/huge': huge,
};

export class Site {
  readonly port: number;
  /** Pages of a test, by path. */
  readonly pages: Map<string, string>;
  /** Paths that were asked for. */
  readonly asked = new Set<string>();
  /** Content security policy of every page. */
  policy: string | null = null;

  private constructor(port: number, pages: Map<string, string>) {
    this.port = port;
    this.pages = pages;
  }

  static async open(scope: Scope): Promise<Site> {
    const pages = new Map<string, string>();
    let site: Site | null = null;
    const server = createServer((request, response) => {
      // As a proxy it gets whole addresses.
      const { pathname } = new URL(request.url ?? '/', 'http://site');
      site?.asked.add(pathname);
      const text = pathname.startsWith('/spa/') ? singlePageProgram : (pages.get(pathname) ?? fixed[pathname]?.());
      const topic = /^\/(?:article|a|login)\/([\w-]+)$/.exec(pathname)?.[1];
      response.setHeader('content-type', 'text/html; charset=utf-8');
      if (site?.policy) response.setHeader('content-security-policy', site.policy);
      if (text === undefined && topic === undefined) response.statusCode = 404;
      response.end(text ?? (topic === undefined ? '' : article(topic)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    scope.after(async () => {
      server.closeAllConnections();
      server.close();
    });
    site = new Site((server.address() as AddressInfo).port, pages);
    return site;
  }
}
