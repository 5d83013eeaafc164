/** Faults of topics and the runs that find them. */
import { edit, type Faults } from './tampered-store.ts';

export const clusterFaults: Faults = [
  [/cluster 1 counts 9 pages, and has 2/, ({ clusters }) => edit(clusters, 1, { size: 9 })],
  [/cluster 1 is deleted, but has 2 pages/, ({ clusters }) => edit(clusters, 1, { tombstoned: true })],
  [/cluster 2 is deleted, but has a place on the map/, ({ clusters }) => edit(clusters, 2, { x: 1, y: 1 })],
  [/cluster 2 has no page, but is not deleted/, ({ clusters }) => edit(clusters, 2, { tombstoned: false })],
  [/run 2 has points of a missing cluster: 1/, ({ clusters }) => clusters.remove(1)],
  [/run 1 has points of a missing cluster: 2/, ({ clusters }) => clusters.remove(2)],
  [
    /run 2 has a point of a missing page: 77/,
    ({ clusterPoints }) => {
      const block = Buffer.from(clusterPoints.get([2, 0]) ?? []);
      block.copyWithin(77 * 16, 16, 32); // page 77 where page 1 is
      return clusterPoints.put([2, 0], block);
    },
  ],
  [
    /points of a missing run: 9/,
    ({ clusterPoints }) => clusterPoints.put([9, 0], clusterPoints.get([2, 0]) ?? Buffer.alloc(0)),
  ],
  [/run 9 is current, but not finished or missing/, ({ clusterState }) => clusterState.put('current', 9)],
  [/run 2 is finished and has a draft/, ({ clusterRuns }) => edit(clusterRuns, 2, { draft: [] })],
  [/run 1 is not finished and has no job/, ({ clusterRuns }) => edit(clusterRuns, 1, { finished_at: null })],
  [/run 2 has a number that is not assigned yet/, ({ counters }) => counters.put('cluster_run', 2)],
  [/cluster \d has a number that is not assigned yet/, ({ counters }) => counters.put('cluster', 2)],
];
