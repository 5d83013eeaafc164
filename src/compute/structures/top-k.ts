/**
 * The k best of many scored labels: a binary heap over typed arrays with the worst on top. Better is a higher score, then a lower label,
 * so that the order is total and the result does not depend on the order of the offers.
 */
export interface ScoredLabels<Scores> {
  /** Best first. */
  labels: Uint32Array;
  scores: Scores;
}

export class TopK<Scores extends Float32Array | Float64Array> {
  /** How many are kept at most. */
  readonly capacity: number;
  readonly #labels: Uint32Array;
  readonly #scores: Scores;
  #size = 0;

  /** `scores`: room for the best ones' scores, which is the list's from now on; its length is k, and its kind how exact they are kept. */
  constructor(scores: Scores) {
    this.capacity = scores.length;
    this.#labels = new Uint32Array(scores.length);
    this.#scores = scores;
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
      this.#rise(this.#size++, label, score);
      return true;
    }
    if (this.capacity === 0 || !isWorse(this.#scores[0], this.#labels[0], score, label)) return false;
    this.#sink(this.#size, label, score);
    return true;
  }

  /** What was kept, best first. The list is used up. */
  take(): ScoredLabels<Scores> {
    const labels = this.#labels;
    const scores = this.#scores;
    for (let last = this.#size - 1; last > 0; last--) {
      const label = labels[last];
      const score = scores[last];
      labels[last] = labels[0];
      scores[last] = scores[0];
      this.#sink(last, label, score);
    }
    return { labels: labels.slice(0, this.#size), scores: scores.slice(0, this.#size) as Scores };
  }

  /** Put what is new at the end, at `start`, or as far above as it is worse than others. */
  #rise(start: number, label: number, score: number): void {
    const labels = this.#labels;
    const scores = this.#scores;
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (!isWorse(score, label, scores[parent], labels[parent])) break;
      labels[place] = labels[parent];
      scores[place] = scores[parent];
      place = parent;
    }
    labels[place] = label;
    scores[place] = score;
  }

  /** Put it in the root's place in a heap of `size`, or as far below as others are worse. */
  #sink(size: number, label: number, score: number): void {
    const labels = this.#labels;
    const scores = this.#scores;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      const right = child + 1;
      if (right < size && isWorse(scores[right], labels[right], scores[child], labels[child])) child = right;
      if (!isWorse(scores[child], labels[child], score, label)) break;
      labels[place] = labels[child];
      scores[place] = scores[child];
      place = child;
    }
    labels[place] = label;
    scores[place] = score;
  }
}

function isWorse(score: number, label: number, thanScore: number, thanLabel: number): boolean {
  return score < thanScore || (score === thanScore && label > thanLabel);
}

/** Merge lists that are best first into one of at most k. */
export function mergeTop(lists: readonly ScoredLabels<Float32Array>[], k: number): ScoredLabels<Float32Array> {
  const top = new TopK(new Float32Array(k));
  for (const { labels, scores } of lists) for (let i = 0; i < labels.length; i++) top.offer(labels[i], scores[i]);
  return top.take();
}
