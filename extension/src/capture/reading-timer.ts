/**
 * Whether a page was read: counts the time in which it was seen by somebody active. Pure; the content script tells it what happens
 * and asks each second. One timer is one view of one address.
 */

/** After the last sign of a person the page counts as read on for so long, ms: a screen of text takes some 15 s. */
export const activityLastsMs = 15_000;
/** Scrolling past the share counts after so much active time, ms: a flick to the end is no reading. */
export const leastScrolledMs = 3_000;
/** What a person sets in motion scrolls on for so long at most, ms; scrolling without a person is the page's own, or the browser's after a reload. */
export const scrollLastsMs = 3_000;
/** No step counts for more, ms: between two a machine may have slept. */
const longestStepMs = 2_000;

export interface ReadingRule {
  activeMs: number;
  /** 0 to 1. */
  scrollShare: number;
}

export interface Attention {
  visible: boolean;
  focused: boolean;
  mediaPlaying: boolean;
}

export class ReadingTimer {
  #startedAt: number;
  #activeMs = 0;
  #share = 0;
  #lastStep: number;
  #lastActivity: number;
  #lastInput: number;

  /**
   * `now`, ms, is when the page was opened, which is a sign of a person, too; not so where it only changed its address: then `before` is the
   * timer of the view before, and its last signs count on.
   */
  constructor(now: number, before?: ReadingTimer) {
    this.#startedAt = now;
    this.#lastStep = now;
    this.#lastActivity = before === undefined ? now : before.#lastActivity;
    this.#lastInput = before === undefined ? Number.NEGATIVE_INFINITY : before.#lastInput;
  }

  /** When it was first seen by somebody active; before that, when it was opened. Ms. */
  get startedAt(): number {
    return this.#startedAt;
  }

  get activeMs(): number {
    return this.#activeMs;
  }

  /** A key, the pointer, the wheel, a touch. */
  activity(now: number): void {
    this.#lastActivity = now;
    this.#lastInput = now;
  }

  /** Whether it is a person who scrolls now, which keeps the page active. */
  scrolling(now: number): boolean {
    const byPerson = now - this.#lastInput <= scrollLastsMs;
    if (byPerson) this.#lastActivity = now;
    return byPerson;
  }

  /** Somebody scrolled; `share` of the page, 0 to 1, is above the lower edge of the window. */
  scrolled(share: number): void {
    this.#share = Math.max(this.#share, share);
  }

  /** Count what passed since the step before; the attention is that of now. */
  step(now: number, { visible, focused, mediaPlaying }: Attention): void {
    const passed = Math.min(Math.max(0, now - this.#lastStep), longestStepMs);
    this.#lastStep = now;
    const active = mediaPlaying || now - this.#lastActivity <= activityLastsMs;
    if (!(visible && focused && active)) return;
    if (this.#activeMs === 0) this.#startedAt = now - passed;
    this.#activeMs += passed;
  }

  isRead({ activeMs, scrollShare }: ReadingRule): boolean {
    return (
      this.#activeMs >= activeMs ||
      (this.#share >= scrollShare && this.#activeMs >= Math.min(activeMs, leastScrolledMs))
    );
  }
}
