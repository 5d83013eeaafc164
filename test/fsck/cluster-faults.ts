/** Faults of topics and the runs that find them. */
import { edit, type Faults } from './tampered-store.ts';

export const clusterFaults: Faults = {
  'a wrong size of a cluster': {
    plant: ({ clusters }) => edit(clusters, 1, { size: 9 }),
    finding: /cluster 1 counts 9 pages, and has 2/,
  },
  'a cluster that is gone and has pages': {
    plant: ({ clusters }) => edit(clusters, 1, { tombstoned: true }),
    finding: /cluster 1 is gone, and has 2 pages/,
  },
  'a tombstone with a place on the map': {
    plant: ({ clusters }) => edit(clusters, 2, { x: 1, y: 1 }),
    finding: /cluster 2 is gone, and has a place on the map/,
  },
  'a cluster without pages that is not gone': {
    plant: ({ clusters }) => edit(clusters, 2, { tombstoned: false }),
    finding: /cluster 2 has no page, and is not gone/,
  },
  'pages of a cluster that is not there': {
    plant: ({ clusters }) => clusters.remove(1),
    finding: /run 2 has points of no cluster: 1/,
  },
  'a tombstone that is not there': {
    plant: ({ clusters }) => clusters.remove(2),
    finding: /run 1 has points of no cluster: 2/,
  },
  'a point of a page that is not there': {
    plant: ({ clusterPoints }) => {
      const block = Buffer.from(clusterPoints.get([2, 0]) ?? []);
      block.copyWithin(77 * 16, 16, 32); // page 77 where page 1 is
      return clusterPoints.put([2, 0], block);
    },
    finding: /run 2 has a point of no page: 77/,
  },
  'points of no run': {
    plant: ({ clusterPoints }) => clusterPoints.put([9, 0], clusterPoints.get([2, 0]) ?? Buffer.alloc(0)),
    finding: /points of no run: 9/,
  },
  'a run that counts and is not there': {
    plant: ({ clusterState }) => clusterState.put('current', 9),
    finding: /run 9 counts, and is not over or not there/,
  },
  'a run that is over and has a draft': {
    plant: ({ clusterRuns }) => edit(clusterRuns, 2, { draft: [] }),
    finding: /run 2 is over and has a draft/,
  },
  'a run that nobody works at': {
    plant: ({ clusterRuns }) => edit(clusterRuns, 1, { finished_at: null }),
    finding: /run 1 is not over and has no job/,
  },
  'a run whose number was not given yet': {
    plant: ({ counters }) => counters.put('cluster_run', 2),
    finding: /run 2 has a number that was not given yet/,
  },
  'a cluster whose number was not given yet': {
    plant: ({ counters }) => counters.put('cluster', 2),
    finding: /cluster \d has a number that was not given yet/,
  },
};
