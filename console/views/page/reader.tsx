/** Text size and width, stored in this browser, and the keys of a page. */
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isInChord, isTyping } from '../../app/keys.tsx';

/** rem */
const sizes = [0.9375, 1.125, 1.25, 1.4375, 1.6875, 2];
const widths = { Narrow: '50ch', Medium: '68ch', Wide: '104ch' } as const;
const widthNames = Object.keys(widths) as (keyof typeof widths)[];
const sizeKey = 'readback.text-size';
const widthKey = 'readback.text-width';

const size = signal(sizes.find((each) => String(each) === localStorage.getItem(sizeKey)) ?? 1.125);
const width = signal(widthNames.find((each) => each === localStorage.getItem(widthKey)) ?? 'Medium');

effect(() => {
  const { style } = document.documentElement;
  style.setProperty('--reader-size', `${size.value}rem`);
  style.setProperty('--reader-width', widths[width.value]);
});

function resize(by: 1 | -1): void {
  size.value = sizes[sizes.indexOf(size.value) + by] ?? size.value;
  localStorage.setItem(sizeKey, String(size.value));
}

/** `keys`: further keys of the page. */
export function ReaderBar({ keys }: { keys: Readonly<Record<string, () => void>> }) {
  useKeys({ '+': () => resize(1), '-': () => resize(-1), ...keys });
  return (
    <div class="reader-bar">
      <fieldset class="segments" aria-label="Text size">
        <button type="button" onClick={() => resize(-1)}>
          A−
          <span class="hidden"> Smaller text</span>
        </button>
        <button type="button" onClick={() => resize(1)}>
          A+
          <span class="hidden"> Larger text</span>
        </button>
      </fieldset>
      <fieldset class="segments reader-width" aria-label="Text width">
        {widthNames.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={width.value === name}
            onClick={() => {
              width.value = name;
              localStorage.setItem(widthKey, name);
            }}
          >
            {name}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

/** Single keys while nothing is typed and no dialog is open. */
export function useKeys(acts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isInChord()) return;
      if (!Object.hasOwn(latest.current, event.key) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      latest.current[event.key]();
    };
    // Before the global shortcuts, which end a chord.
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
}
