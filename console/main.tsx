/** The console: mounts the frame. */
import { render } from 'preact';
import './styles/console.css';
import { begin } from './app/session.tsx';
import { Shell } from './app/shell.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no place for the console');
render(<Shell />, root);
void begin();

// A file that is dropped where none is taken would be opened in the console's place.
for (const name of ['dragover', 'drop'] as const) {
  addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
}
