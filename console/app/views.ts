/** The views: names in addresses, titles, icons and keyboard shortcuts. */
import type { IconName } from '../ui/icon.tsx';

export interface ViewEntry {
  name: string;
  title: string;
  icon: IconName;
  /** After `g`. */
  key: string;
  group: 'look' | 'keep';
}

export const views: readonly ViewEntry[] = [
  { name: 'search', title: 'Search', icon: 'search', key: 's', group: 'look' },
  { name: 'ask', title: 'Ask', icon: 'ask', key: 'a', group: 'look' },
  { name: 'time', title: 'Time', icon: 'clock', key: 't', group: 'look' },
  { name: 'topics', title: 'Topics', icon: 'topics', key: 'o', group: 'look' },
  { name: 'names', title: 'Names', icon: 'names', key: 'n', group: 'look' },
  { name: 'map', title: 'Map', icon: 'map', key: 'm', group: 'look' },
  { name: 'sources', title: 'Sources', icon: 'sources', key: 'f', group: 'keep' },
  { name: 'jobs', title: 'Jobs', icon: 'jobs', key: 'j', group: 'keep' },
  { name: 'models', title: 'Models', icon: 'models', key: 'e', group: 'keep' },
  { name: 'system', title: 'System', icon: 'system', key: 'y', group: 'keep' },
];
