/**
 * The k best hits seen so far: a binary heap over typed arrays with the worst on top. Better is a higher score, then a
 * lower label, so the order is total and the result does not depend on the order of the offers.
 */
export interface SparseHits {
  /** Best first. */
  labels: Uint32Array;
  /** BM25F of each label; within one corpus state the same to the bit, whatever way it was found. */
  scores: Float64Array;
}

export class TopHits {
  private readonly limit: number;
  private readonly labels: Uint32Array;
  private readonly scores: Float64Array;
  private size = 0;

  constructor(limit: number) {
    this.limit = limit;
    this.labels = new Uint32Array(limit);
    this.scores = new Float64Array(limit);
  }

  /** The score below which nothing enters any more; 0 until the heap is full, when everything enters. */
  get threshold(): number {
    return this.size < this.limit ? 0 : this.scores[0];
  }

  offer(label: number, score: number): void {
    if (this.size < this.limit) {
      this.siftUp(this.size++, label, score);
    } else if (isWorse(this.scores[0], this.labels[0], score, label)) {
      this.siftDown(this.size, label, score);
    }
  }

  /** Empty the heap into a list, best first. */
  drain(): SparseHits {
    const labels = new Uint32Array(this.size);
    const scores = new Float64Array(this.size);
    while (this.size > 0) {
      this.size--;
      labels[this.size] = this.labels[0];
      scores[this.size] = this.scores[0];
      this.siftDown(this.size, this.labels[this.size], this.scores[this.size]);
    }
    return { labels, scores };
  }

  private siftUp(start: number, label: number, score: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (!isWorse(score, label, this.scores[parent], this.labels[parent])) break;
      this.move(parent, place);
      place = parent;
    }
    this.labels[place] = label;
    this.scores[place] = score;
  }

  /** Put (label, score) in the root's place in a heap of `size`. */
  private siftDown(size: number, label: number, score: number): void {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      const right = child + 1;
      if (right < size && isWorse(this.scores[right], this.labels[right], this.scores[child], this.labels[child])) {
        child = right;
      }
      if (!isWorse(this.scores[child], this.labels[child], score, label)) break;
      this.move(child, place);
      place = child;
    }
    this.labels[place] = label;
    this.scores[place] = score;
  }

  private move(from: number, to: number): void {
    this.labels[to] = this.labels[from];
    this.scores[to] = this.scores[from];
  }
}

function isWorse(score: number, label: number, thanScore: number, thanLabel: number): boolean {
  return score < thanScore || (score === thanScore && label > thanLabel);
}
