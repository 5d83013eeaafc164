/** Reads import files, each in its own thread. Faults are values, as errors lose their class between threads. */
import type { CanonicalizeSettings } from '../compute/web/canonical-url.ts';
import type { DryRun, ImportColumn, ImportFormat, ImportItem, ImportOptions } from '../domain/import.ts';
import { ImportError } from '../importers/item-parts.ts';
import { type ImportSource, openSource } from '../importers/open-source.ts';
import { dryRun } from '../importers/run-import.ts';

export type Refused = { refused: string; columns: readonly ImportColumn[] };

export interface OpenedSource extends Pick<ImportSource, 'format' | 'id' | 'isHistory' | 'isOwn' | 'columns'> {
  leftOut: Record<string, number>;
}

/** A piece ends at either limit, which bounds memory in both threads. */
const pieceItems = 200;
const pieceChars = 4 * 2 ** 20;

let opened: ImportSource | null = null;
let items: AsyncGenerator<ImportItem> | null = null;

export async function openFile(file: {
  path: string;
  name: string;
  format: ImportFormat | null;
  columns: string | null;
}): Promise<OpenedSource | Refused> {
  return refusing(async () => {
    opened = await openSource(file.path, file.format, file.name, file.columns);
    const { format, id, isHistory, isOwn, columns } = opened;
    items = opened.items();
    return { format, id, isHistory, isOwn, columns, leftOut: await opened.leftOut() };
  });
}

export async function dryRunOf(settings: {
  options: ImportOptions;
  canonicalize: CanonicalizeSettings;
}): Promise<DryRun> {
  if (opened === null) throw new TypeError('no file was opened');
  return dryRun(opened, settings.options, settings.canonicalize);
}

/** The next items, and whether more follow. `fault`: why not, if the file is damaged. */
export async function nextItems(): Promise<{ items: ImportItem[]; isLast: boolean; fault: string | null }> {
  if (items === null) throw new TypeError('no file was opened');
  const piece: ImportItem[] = [];
  let chars = 0;
  while (piece.length < pieceItems && chars < pieceChars) {
    const next = await refusing(async () => items?.next());
    // Items before the fault are imported.
    if (next !== undefined && 'refused' in next) return { items: piece, isLast: true, fault: next.refused };
    if (next === undefined || next.done) return { items: piece, isLast: true, fault: null };
    const { body_html, body_text, pdf } = next.value;
    chars += (body_html?.length ?? 0) + (body_text?.length ?? 0) + (pdf?.length ?? 0);
    piece.push(next.value);
  }
  return { items: piece, isLast: false, fault: null };
}

async function refusing<Result>(read: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ImportError) return { refused: error.message, columns: error.columns };
    throw error;
  }
}
