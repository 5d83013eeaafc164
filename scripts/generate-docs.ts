// Writes the pages of docs/ that are made from the source: npm run docs
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderApi } from './render-api.ts';
import { renderCommandLine } from './render-command-line.ts';
import { renderSettings } from './render-settings.ts';

const docs = fileURLToPath(new URL('../docs/', import.meta.url));
mkdirSync(docs, { recursive: true });
writeFileSync(`${docs}settings.md`, renderSettings());
writeFileSync(`${docs}api.md`, await renderApi());
const commandLine = `${docs}command-line.md`;
writeFileSync(commandLine, renderCommandLine(readFileSync(commandLine, 'utf8')));
