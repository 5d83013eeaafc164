/** The part of hnswlib-node 3.0.0 used here: types must not depend on an optional package. */
declare module 'hnswlib-node' {
  export class HierarchicalNSW {
    constructor(space: 'ip', dim: number);
    initIndex(options: { maxElements: number; m: number; efConstruction: number; randomSeed: number }): void;
    /** The caller keeps the graph alive until it resolves. A damaged file would end the process. */
    readIndex(path: string): Promise<boolean>;
    readIndexSync(path: string): void;
    writeIndexSync(path: string): void;
    addPoint(point: number[], label: number): void;
    resizeIndex(maxElements: number): void;
    getMaxElements(): number;
    getIdsList(): number[];
    setEf(ef: number): void;
    searchKnn(point: number[], count: number, isWanted?: (label: number) => boolean): { neighbors: number[] };
  }
  const all: { HierarchicalNSW: typeof HierarchicalNSW };
  export default all;
}
