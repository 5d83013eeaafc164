import { join } from 'node:path';
import { defaultLibrary } from '../domain/access.ts';
import { type Settings, SettingsError, variableName } from './read-settings.ts';

/** Whether libraries are in PostgreSQL. Then only the database knows their names. */
export const isClustered = ({ secrets: { cluster } }: Settings): boolean => cluster.database_url !== null;

/** Folder of the local copies of PostgreSQL libraries. */
export const copiesFolder = ({ data_dir }: Settings): string => join(data_dir, 'copies');
export const copyFolder = (settings: Settings, library: string): string => join(copiesFolder(settings), library);

/** Folders by library name; without libraries the data folder. None in a cluster. */
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

/** Folder and tokens of a library; a single one needs no name. Errors: SettingsError for an unknown or missing name. */
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
        ? `${variableName(['libraries', 'dir'])}: there are several libraries: pass --library with one of ${known}`
        : `--library ${name}: there is no such library, only ${known}`,
    ]);
  }
  const tokens = settings.secrets.tokens.filter(({ library }) => library === chosen);
  return { ...settings, data_dir: path, libraries: { dir: null }, secrets: { ...settings.secrets, tokens } };
}

export const demoFolderOf = (dataDir: string): string => `${dataDir}-demo`;
