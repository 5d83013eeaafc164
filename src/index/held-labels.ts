/** A label set that grows and counts: the labels that an index is meant to hold. 100,000 of them take 12 KB. */
import { addLabel, createLabelSet, hasLabel, type LabelSet } from '../compute/structures/label-set.ts';

export class HeldLabels {
  size = 0;
  #set: LabelSet = createLabelSet(0);

  /** As a label set; good until the next `add`. */
  get set(): LabelSet {
    return this.#set;
  }

  add(label: number): void {
    if (hasLabel(this.#set, label)) return;
    if (label >>> 5 >= this.#set.length) {
      const grown = createLabelSet(Math.max(label + 1, this.#set.length * 48));
      grown.set(this.#set);
      this.#set = grown;
    }
    addLabel(this.#set, label);
    this.size++;
  }

  delete(label: number): void {
    if (!hasLabel(this.#set, label)) return;
    this.#set[label >>> 5] &= ~(1 << (label & 31));
    this.size--;
  }

  has(label: number): boolean {
    return hasLabel(this.#set, label);
  }
}
