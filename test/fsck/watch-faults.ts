/** Faults of watches, their lookups and the items that they have brought in. */
import { edit, type Faults } from './tampered-store.ts';

export const watchFaults: Faults = [
  [/watches by URL: .* is missing/, ({ watchByUrl }) => watchByUrl.remove([...watchByUrl.getKeys()][0])],
  [/watches by URL: .* belongs to no row/, ({ watchByUrl }) => watchByUrl.put(Buffer.alloc(16, 7), 77)],
  [/watches by poll: .* belongs to no row/, ({ watchByJob }) => watchByJob.put(77, 77)],
  [/due watches: .* is missing/, ({ watchesDue }) => watchesDue.remove([...watchesDue.getKeys()][0])],
  [/due watches: .* belongs to no row/, ({ watches }) => edit(watches, 1, { enabled: false })],
  [/item of a missing watch: 77/, ({ watchItems }) => watchItems.put([77, 'guid'], Buffer.alloc(17, 1))],
  [/watch 1: an item leads to no address/, ({ watchItems }) => watchItems.put([1, 'guid'], Buffer.alloc(3))],
  [/watch 1 has a number that is not assigned yet/, ({ counters }) => counters.put('watch', 1)],
];
