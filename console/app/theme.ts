/** Light, dark or system theme, stored in this browser. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const key = 'readback.theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

const kept = localStorage.getItem(key);
export const theme = signal<Theme>(themes.find((each) => each === kept) ?? 'system');

effect(() => {
  if (theme.value === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(key);
  } else {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem(key, theme.value);
  }
});

/** Incremented when colours change. */
export const paint = signal(0);
const repaint = () => {
  paint.value = paint.peek() + 1;
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
theme.subscribe(repaint);

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length];
}

/** A colour token for canvas and WebGL: `rgb(…)`. */
export function colorOf(token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
