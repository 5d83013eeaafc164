/**
 * A ranked list that keeps the best k by plain insertion: score first, then the lower label. It is the references' own, so that
 * what is judged and what judges share no code.
 */
export class Ranking {
  readonly #k: number;
  readonly #labels: number[] = [];
  readonly #scores: number[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  offer(label: number, score: number): void {
    const size = this.#labels.length;
    if (size === this.#k && !this.#before(score, label, size - 1)) return;
    let low = 0;
    let high = size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#before(score, label, middle)) high = middle;
      else low = middle + 1;
    }
    this.#labels.splice(low, 0, label);
    this.#scores.splice(low, 0, score);
    if (size === this.#k) {
      this.#labels.pop();
      this.#scores.pop();
    }
  }

  /** Best first. */
  labels(): number[] {
    return [...this.#labels];
  }

  #before(score: number, label: number, place: number): boolean {
    const other = this.#scores[place];
    return score > other || (score === other && label < this.#labels[place]);
  }
}
