/** Mounts the console. */
import { render } from 'preact';
import './styles/console.css';
import { begin } from './app/session.tsx';
import { Shell } from './app/shell.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no place for the console');
render(<Shell />, root);
void begin();

// Absent over plain HTTP from another machine; refused in some private windows. The console works without it.
addEventListener('load', () => navigator.serviceWorker?.register('/service-worker.js').catch(() => undefined));

// Otherwise the browser opens a dropped file in place of the console.
for (const name of ['dragover', 'drop'] as const) {
  addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
}
