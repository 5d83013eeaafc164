/** Global keyboard shortcuts, and their list. */
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { operatorHelp } from '../../src/domain/query-clause.ts';
import { Facts } from '../ui/parts.tsx';
import { currentView, go, linkTo } from './router.ts';
import { views } from './views.ts';

export const keysShown = signal(false);
/** The command palette: on Ctrl K. */
export const paletteShown = signal(false);
/** The search box subscribes. */
export const searchWanted = signal(0);

const chordMs = 1200;
let chordUntil = 0;
/** Whether the next key completes a two-key shortcut. */
export const isInChord = (): boolean => performance.now() < chordUntil;

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:textarea|select)$/i.test(target.tagName) || isTextInput(target));

const isTextInput = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && !/^(?:checkbox|radio|button|submit|range|file)$/.test(target.type);

const isPaletteKey = ({ ctrlKey, metaKey, altKey, shiftKey, key }: KeyboardEvent): boolean =>
  ctrlKey !== metaKey && !altKey && !shiftKey && key.toLowerCase() === 'k';

export function useGlobalKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isPaletteKey(event)) {
        event.preventDefault();
        if (document.querySelector('dialog[open]') === null) paletteShown.value = true;
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
      if (event.key === '/') {
        event.preventDefault();
        if (currentView.value !== 'search') go(linkTo('search'));
        searchWanted.value++;
      } else if (event.key === '?') {
        event.preventDefault();
        keysShown.value = true;
      } else if (event.key === 'g') {
        chordUntil = performance.now() + chordMs;
      } else if (isInChord()) {
        chordUntil = 0;
        const view = views.find(({ key }) => key === event.key);
        if (view !== undefined) go(linkTo(view.name));
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** While `isOn`, Escape does only this. */
export function useEscape(isOn: boolean, stop: () => void): void {
  const latest = useRef(stop);
  latest.current = stop;
  // Before the next key event.
  useLayoutEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      latest.current();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [isOn]);
}

const general: readonly [string, string][] = [
  ['/', 'Search'],
  ['Ctrl K', 'Pages, views, actions and operators in one list'],
  ['↓ ↑, j k', 'Next, previous result; on a page j k: passage'],
  ['Enter', 'Open the page at the passage'],
  ['o u', 'On a page: open the original, back to the results'],
  ['v', 'Stored text of the result'],
  ['s', 'Related pages'],
  ['w', 'Why this result'],
  ['x, Shift X', 'Select the result, or all up to it'],
  ['t', 'Tag the selected results'],
  ['+ −', 'Good result, bad result; on a page: text size'],
  ['Esc', 'Back to the search box; cancel an answer'],
  ['h', 'Highlight the selected text of a page'],
  ['Ctrl Z', 'Undo the deletion of a page, for ten seconds'],
  ['?', 'Keyboard shortcuts and search operators'],
];

export function KeysDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!keysShown.value) return;
    dialog.current?.showModal();
    dialog.current?.scrollTo(0, 0); // the button at the end has the focus
  }, [keysShown.value]);
  return (
    <dialog
      ref={dialog}
      class="dialog dialog-wide"
      aria-labelledby="keys-title"
      onClose={() => {
        keysShown.value = false;
      }}
    >
      <h2 id="keys-title">Keyboard shortcuts</h2>
      <div class="keys">
        <Facts class="" of={general.map(([key, what]) => [<kbd>{key}</kbd>, what])} />
        <Facts class="" of={views.map(({ key, title }) => [[<kbd>g</kbd>, ' ', <kbd>{key}</kbd>], title])} />
      </div>
      <h2 id="operators-title">Search operators</h2>
      <Facts
        class="operators"
        label="operators-title"
        of={operatorHelp.map(({ finds, example }) => [<code>{example}</code>, finds])}
      />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
