/** Pages that come between runs are put to the cluster of the pages nearest to them. Kept here are those that wait for it. */
import { assignPages } from '../../commands/cluster-runs.ts';
import type { ClusterPoint } from '../../domain/cluster.ts';
import type { StoreReader } from '../../store/store.ts';
import type { CommitCommand, SystemAsk } from '../system/system-messages.ts';
import { clusterCensus } from './cluster-census.ts';
import { nearestCluster, voters } from './nearest-cluster.ts';

export interface PagePlacementDependencies {
  ask: SystemAsk;
  commit: CommitCommand;
  reader: StoreReader;
  /** Of the active model; null where there is none. */
  activeSpace: () => number | null;
  /** What is under way ends with the commit that it is at. */
  isStopping: () => boolean;
}

/** Pages put somewhere in one commit. */
const pagesPerCommit = 32;

export class PagePlacement {
  readonly #dependencies: PagePlacementDependencies;
  readonly #waiting = new Set<number>();

  constructor(dependencies: PagePlacementDependencies) {
    this.#dependencies = dependencies;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(pageNo: number): void {
    this.#waiting.add(pageNo);
  }

  /** Put all that wait somewhere; without a run they only cease to wait. */
  async placeAll(): Promise<void> {
    const { ask, commit, reader, isStopping } = this.#dependencies;
    while (!this.isEmpty && !isStopping()) {
      const run = reader.clusters.currentRun();
      const some = [...this.#waiting].slice(0, pagesPerCommit);
      const points: ClusterPoint[] = [];
      for (const no of run === 0 ? [] : some) {
        if (reader.pages.head(no)?.status !== 'indexed' || reader.clusters.point(run, no) !== undefined) continue;
        const filters = { domain: null, after: null, before: null, pages: null };
        const near = await ask('index.nearPages', { model: null, page_nos: [no], k: voters, except: [], filters });
        points.push(nearestCluster(no, near, (page) => reader.clusters.point(run, page)));
      }
      if (points.length > 0) await commit(assignPages(points));
      for (const no of some) this.#waiting.delete(no);
    }
  }

  /** The same with all pages that the current run does not know. */
  async takeUp(): Promise<void> {
    const { reader, activeSpace } = this.#dependencies;
    if (reader.clusters.currentRun() === 0) return;
    for (const no of (await clusterCensus(reader, activeSpace())).unknown) this.add(no);
    await this.placeAll();
  }
}
