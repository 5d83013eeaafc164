/** Which libraries there are, and where: one folder each. */
import { join } from 'node:path';
import { defaultLibrary } from '../domain/access.ts';
import { variableName } from './environment.ts';
import { type Settings, SettingsError } from './read-settings.ts';

/** Whether libraries are kept in PostgreSQL: which there are is known there only. */
export const isClustered = ({ secrets: { cluster } }: Settings): boolean => cluster.database_url !== null;

/** Folder of the copies of libraries that are kept in PostgreSQL, and of one of them. */
export const copiesFolder = ({ data_dir }: Settings): string => join(data_dir, 'copies');
export const copyFolder = (settings: Settings, library: string): string => join(copiesFolder(settings), library);

/**
 * Folders by the names of the libraries that tokens are of; with nothing configured the data folder is the one library's. None in a cluster.
 */
export function libraryFolders(settings: Settings): Map<string, string> {
  const {
    data_dir,
    libraries: { dir },
    secrets: { tokens },
  } = settings;
  if (isClustered(settings)) return new Map();
  if (dir === null) return new Map([[defaultLibrary, data_dir]]);
  return new Map(tokens.map(({ library }) => [library, join(dir, library)]));
}

/**
 * The settings as they are for one of the libraries, as if there were no other: its folder, and its tokens. The only one need not be named.
 * Errors: SettingsError for one that is not there, or where none of several is named.
 */
export function settingsOfLibrary(settings: Settings, name: string | undefined): Settings {
  const folders = isClustered(settings)
    ? new Map([[name ?? defaultLibrary, copyFolder(settings, name ?? defaultLibrary)]])
    : libraryFolders(settings);
  const [only = defaultLibrary] = folders.size === 1 ? folders.keys() : [];
  const chosen = name ?? only;
  const path = folders.get(chosen);
  if (path === undefined) {
    const known = [...folders.keys()].join(', ');
    throw new SettingsError([
      name === undefined
        ? `${variableName(['libraries', 'dir'])}: there are several libraries: say --library, one of ${known}`
        : `--library ${name}: there is none of that name, but ${known}`,
    ]);
  }
  const tokens = settings.secrets.tokens.filter(({ library }) => library === chosen);
  return { ...settings, data_dir: path, libraries: { dir: null }, secrets: { ...settings.secrets, tokens } };
}
