/** The k best scored labels, in a heap with the worst on top. Ties go to the lower label, in any order of offers. */
export interface ScoredLabels<Scores> {
  labels: Uint32Array;
  scores: Scores;
}

export class TopK<Scores extends Float32Array | Float64Array> {
  readonly capacity: number;
  readonly #labels: Uint32Array;
  readonly #scores: Scores;
  #size = 0;

  /** `scores`: buffer of length k, owned from now on. Its type sets the precision. */
  constructor(scores: Scores) {
    this.capacity = scores.length;
    this.#labels = new Uint32Array(scores.length);
    this.#scores = scores;
  }

  get bar(): number {
    return this.#size > 0 && this.#size === this.capacity ? this.#scores[0] : Number.NEGATIVE_INFINITY;
  }

  /** Offer each label at most once. */
  offer(label: number, score: number): void {
    if (this.#size < this.capacity) this.#rise(this.#size++, label, score);
    else if (this.capacity > 0 && isWorse(this.#scores[0], this.#labels[0], score, label)) {
      this.#sink(this.#size, label, score);
    }
  }

  /** Best first. Empties the list. */
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

  /** Insert at the end, at `start`, and move up. */
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

  /** Replace the root of a heap of `size` and move down. */
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
