/**
 * The content script of enabled search engines: requests the user's own matches and shows them in a corner. Its closed
 * shadow root is isolated from the page. Reads nothing of the page.
 */
import { ask, type OwnMatch } from '../messages.ts';

const style = `
  :host { all: initial !important; display: block !important; visibility: visible !important; position: fixed !important; inset: auto 16px 16px auto !important; z-index: 2147483647 !important; color-scheme: light dark !important; }
  aside { box-sizing: border-box; inline-size: 340px; max-inline-size: calc(100vw - 32px); max-block-size: 60vh; overflow: auto; padding: 12px 14px;
    font: 14px/1.45 system-ui, sans-serif; color: light-dark(#1c1b19, #ecebe7); background: light-dark(#ffffff, #1c1e23);
    border: 1px solid light-dark(#b5ae9f, #565c68); border-radius: 10px; box-shadow: 0 4px 20px rgb(0 0 0 / 0.2); }
  header { display: flex; gap: 8px; align-items: center; justify-content: space-between; }
  h2 { font-size: 14px; margin: 0; }
  ol { list-style: none; margin: 8px 0 0; padding: 0; }
  li + li { margin-block-start: 10px; }
  a { color: light-dark(#0d5c70, #73c4d8); font-weight: 600; overflow-wrap: anywhere; }
  p { margin: 2px 0 0; color: light-dark(#5d5850, #a5a199); overflow-wrap: anywhere; }
  .passage { color: inherit; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; line-clamp: 2; overflow: hidden; }
  button { font: inherit; color: inherit; background: none; border: 1px solid light-dark(#b5ae9f, #565c68); border-radius: 6px; padding: 2px 9px; cursor: pointer; }
  :focus-visible { outline: 2px solid light-dark(#0d5c70, #73c4d8); outline-offset: 2px; }
`;

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = '',
  className = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
}

function itemOf({ title, link, site, read, passage }: OwnMatch): HTMLLIElement {
  const item = element('li');
  const anchor = element('a', title);
  anchor.href = link;
  // In a new tab: replacing the page would reveal the link to it.
  anchor.target = '_blank';
  anchor.rel = 'noopener noreferrer';
  item.append(anchor, element('p', `${site} · ${read}`));
  if (passage !== '') item.append(element('p', passage, 'passage'));
  return item;
}

function show(matches: readonly OwnMatch[]): void {
  const { getMessage, getUILanguage } = chrome.i18n;
  const host = element('div');
  host.lang = getUILanguage();
  const root = host.attachShadow({ mode: 'closed' });
  const styles = new CSSStyleSheet();
  styles.replaceSync(style);
  root.adoptedStyleSheets = [styles];
  const aside = element('aside');
  const header = element('header');
  const heading = element('h2', getMessage('box_title'));
  heading.id = 'title';
  aside.setAttribute('aria-labelledby', heading.id);
  const close = element('button', '✕');
  close.type = 'button';
  close.setAttribute('aria-label', getMessage('box_close'));
  close.addEventListener('click', () => host.remove());
  aside.addEventListener('keydown', ({ key }) => key === 'Escape' && host.remove());
  header.append(heading, close);
  const list = element('ol');
  list.append(...matches.map(itemOf));
  aside.append(header, list);
  root.append(aside);
  document.documentElement.append(host);
}

// The background program reads the query from the tab's address; nothing is sent.
ask('ownMatches', null).then(
  (matches) => matches.length > 0 && show(matches),
  () => undefined, // the extension was replaced or is not paired, so there is nothing to show
);
