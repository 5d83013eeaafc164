/**
 * The best k of many scored labels: a heap whose root is the worst kept. Higher scores are better; of equal ones the lower
 * label is, so that the same hits come in the same order whichever way they were found.
 */
export interface ScoredLabels {
  /** Best first. */
  labels: Uint32Array;
  scores: Float32Array;
}

export class TopList {
  readonly capacity: number;
  #labels: Uint32Array;
  #scores: Float32Array;
  #size = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#labels = new Uint32Array(capacity);
    this.#scores = new Float32Array(capacity);
  }

  /** How many are kept. */
  get size(): number {
    return this.#size;
  }

  /** What scores less is not kept any more. */
  get bar(): number {
    return this.#size > 0 && this.#size === this.capacity ? this.#scores[0] : Number.NEGATIVE_INFINITY;
  }

  /** Each label once: repeated ones would be kept twice. Gives whether it is kept. */
  offer(label: number, score: number): boolean {
    if (this.#size < this.capacity) {
      this.#labels[this.#size] = label;
      this.#scores[this.#size] = score;
      this.#rise(this.#size++);
      return true;
    }
    if (this.capacity === 0 || !isWorse(this.#scores[0], this.#labels[0], score, label)) return false;
    this.#labels[0] = label;
    this.#scores[0] = score;
    this.#sink(0, this.#size);
    return true;
  }

  /** What was kept, best first. The list is used up. */
  take(): ScoredLabels {
    for (let last = this.#size - 1; last > 0; last--) {
      this.#swap(0, last);
      this.#sink(0, last);
    }
    return { labels: this.#labels.slice(0, this.#size), scores: this.#scores.slice(0, this.#size) };
  }

  #rise(at: number): void {
    for (let child = at; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#worse(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #sink(at: number, size: number): void {
    for (let parent = at; ; ) {
      let child = 2 * parent + 1;
      if (child >= size) return;
      if (child + 1 < size && this.#worse(child + 1, child)) child++;
      if (!this.#worse(child, parent)) return;
      this.#swap(child, parent);
      parent = child;
    }
  }

  #worse(a: number, b: number): boolean {
    return isWorse(this.#scores[a], this.#labels[a], this.#scores[b], this.#labels[b]);
  }

  #swap(a: number, b: number): void {
    const label = this.#labels[a];
    const score = this.#scores[a];
    this.#labels[a] = this.#labels[b];
    this.#scores[a] = this.#scores[b];
    this.#labels[b] = label;
    this.#scores[b] = score;
  }
}

function isWorse(score: number, label: number, than: number, thanLabel: number): boolean {
  return score < than || (score === than && label > thanLabel);
}

/** Merge lists that are best first into one of at most k. */
export function mergeTop(lists: readonly ScoredLabels[], k: number): ScoredLabels {
  const top = new TopList(k);
  for (const { labels, scores } of lists) for (let i = 0; i < labels.length; i++) top.offer(labels[i], scores[i]);
  return top.take();
}
