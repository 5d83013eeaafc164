/** Keeps the focus near its element when that is removed, moved or disabled. */
import { useEffect } from 'preact/hooks';
import { isTyping } from './keys.tsx';
import { currentPart, currentView } from './router.ts';

interface Focused {
  element: HTMLElement;
  /** Each ancestor, from the inside, with its number of focusable elements before this one. */
  around: { scope: Element; before: number }[];
}

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary';

export function useFocusKept(): void {
  useEffect(() => {
    let last: Focused | null = null;
    const onFocusIn = ({ target }: FocusEvent) => {
      // A dialog that closes with its view first restores the focus to a removed element.
      queueMicrotask(() => {
        if (target instanceof HTMLElement && target.isConnected) last = focusedOf(target);
      });
    };
    const onFocusOut = ({ target }: FocusEvent) => {
      // Also called for elements that were just removed.
      queueMicrotask(() => {
        if (last?.element === target && canTake(last.element)) last = null;
      });
    };
    const observer = new MutationObserver(() => {
      if (last === null) return;
      const { element } = last;
      if (isLost() && canTake(element)) {
        // Date fields move the focus between their parts, with a gap.
        setTimeout(() => {
          if (last?.element === element && isLost() && canTake(element)) element.focus({ preventScroll: true });
        });
      } else if (isLost() && !element.isConnected) nextTo(last)?.focus({ preventScroll: true });
      // A field keeps the focus while typing, and counting with every key would take time.
      else if (element.isConnected && !isTyping(element)) last = focusedOf(element);
    });
    // The frame sets the focus of a new view or page.
    const forget = () => {
      last = null;
    };
    const leaves = [currentView.subscribe(forget), currentPart.subscribe(forget)];
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ['disabled'],
    });
    addEventListener('focusin', onFocusIn);
    addEventListener('focusout', onFocusOut);
    return () => {
      for (const stop of leaves) stop();
      observer.disconnect();
      removeEventListener('focusin', onFocusIn);
      removeEventListener('focusout', onFocusOut);
    };
  }, []);
}

const isLost = (): boolean => (document.activeElement ?? document.body) === document.body;
const canTake = (element: HTMLElement): boolean => element.isConnected && !element.matches(':disabled');

const focusablesIn = (scope: Element): HTMLElement[] =>
  [...scope.querySelectorAll<HTMLElement>(focusable)].filter((each) => each.checkVisibility());

function focusedOf(element: HTMLElement): Focused {
  const all = focusablesIn(document.body);
  const isBefore = (each: HTMLElement) =>
    (each.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const before = all.filter(isBefore);
  const around: Focused['around'] = [];
  for (let scope = element.parentElement; scope !== null; scope = scope.parentElement) {
    const { length } = before.filter((each) => scope.contains(each));
    around.push({ scope, before: length });
  }
  return { element, around };
}

/** The replacement of the element, or the last element before it, in the nearest ancestor. */
function nextTo({ around }: Focused): HTMLElement | null {
  for (const { scope, before } of around) {
    const others = scope.isConnected ? focusablesIn(scope) : [];
    if (others.length > 0) return others[Math.min(before, others.length - 1)];
  }
  return null;
}
