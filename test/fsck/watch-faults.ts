/** Faults of watches, their lookups and the items that they have brought in. */
import { edit, type Faults } from './tampered-store.ts';

export const watchFaults: Faults = {
  'a watch that its URL does not lead to': {
    plant: ({ watchByUrl }) => watchByUrl.remove([...watchByUrl.getKeys()][0]),
    finding: /watches by URL: .* is missing/,
  },
  'a URL of no watch': {
    plant: ({ watchByUrl }) => watchByUrl.put(Buffer.alloc(16, 7), 77),
    finding: /watches by URL: .* is of no row/,
  },
  'a poll of no watch': {
    plant: ({ watchByJob }) => watchByJob.put(77, 77),
    finding: /watches by poll: .* is of no row/,
  },
  'a watch that is never due': {
    plant: ({ watchesDue }) => watchesDue.remove([...watchesDue.getKeys()][0]),
    finding: /due watches: .* is missing/,
  },
  'a disabled watch that is due': {
    plant: ({ watches }) => edit(watches, 1, { enabled: false }),
    finding: /due watches: .* is of no row/,
  },
  'an item of no watch': {
    plant: ({ watchItems }) => watchItems.put([77, 'guid'], Buffer.alloc(17, 1)),
    finding: /item of no watch: 77/,
  },
  'an item that leads nowhere': {
    plant: ({ watchItems }) => watchItems.put([1, 'guid'], Buffer.alloc(3)),
    finding: /watch 1: an item leads to no address/,
  },
  'a watch whose number was not given yet': {
    plant: ({ counters }) => counters.put('watch', 1),
    finding: /watch 1 has a number that was not given yet/,
  },
};
