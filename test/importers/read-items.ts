/** What a file to import has, told and read as the command does. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportFormat, ImportItem } from '../../src/domain/import.ts';
import { openSource } from '../../src/importers/open-source.ts';
import { type Scope, temporaryFolder } from '../scope.ts';

export async function readItems(
  path: string,
  format: ImportFormat | null = null,
  columns: string | null = null,
): Promise<{ format: string; items: ImportItem[] }> {
  const source = await openSource(path, format, path, columns);
  const items: ImportItem[] = [];
  for await (const item of source.items()) items.push(item);
  return { format: source.format, items };
}

/** A file of a test; its name says nothing of the format. */
export function writtenFile(scope: Scope, content: string | Buffer, name = 'file'): string {
  const path = join(temporaryFolder(scope), name);
  writeFileSync(path, content);
  return path;
}
