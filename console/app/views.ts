/** The views: names in addresses, titles, icons and keyboard shortcuts. */
import type { IconName } from '../ui/icon.tsx';

export const viewGroups = ['Your reading', 'Library', 'Settings'] as const;

export interface ViewEntry {
  name: string;
  title: string;
  icon: IconName;
  /** After `g`. */
  key: string;
  group: (typeof viewGroups)[number];
}

export const views: readonly ViewEntry[] = [
  { name: 'search', title: 'Search', icon: 'search', key: 's', group: 'Your reading' },
  { name: 'ask', title: 'Ask', icon: 'ask', key: 'a', group: 'Your reading' },
  { name: 'time', title: 'Time', icon: 'clock', key: 't', group: 'Your reading' },
  { name: 'topics', title: 'Topics', icon: 'topics', key: 'o', group: 'Your reading' },
  { name: 'names', title: 'Names', icon: 'names', key: 'n', group: 'Your reading' },
  { name: 'map', title: 'Map', icon: 'map', key: 'm', group: 'Your reading' },
  { name: 'sources', title: 'Sources', icon: 'sources', key: 'f', group: 'Library' },
  { name: 'jobs', title: 'Jobs', icon: 'jobs', key: 'j', group: 'Settings' },
  { name: 'models', title: 'Models', icon: 'models', key: 'e', group: 'Settings' },
  { name: 'system', title: 'System', icon: 'system', key: 'y', group: 'Settings' },
];
