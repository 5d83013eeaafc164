/** The part of wink-bm25-text-search 3.1.2 used here; the package has no types. */
declare module 'wink-bm25-text-search' {
  export interface Modeller {
    defineConfig(config: { fldWeights: Readonly<Record<string, number>>; bm25Params?: Record<string, number> }): void;
    definePrepTasks(tasks: ((input: string | readonly string[]) => readonly string[])[]): void;
    /** Without preparation tasks, the value of a field is its list of tokens. */
    addDoc(document: Readonly<Record<string, readonly (string | number)[]>>, id: number): void;
    /** By document: token index → weighted frequency, and weighted length. Read it before `consolidate`. */
    getDocs(): Record<number, { freq: Record<number, number>; length: number }>;
    getTokens(): Record<string | number, number>;
    consolidate(precision: number): void;
    search(text: string, limit: number): [id: string, score: number][];
  }
  export default function createModeller(): Modeller;
}
