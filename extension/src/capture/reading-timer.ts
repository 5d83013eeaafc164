/** Counts the time that an active user sees a page. Pure; the content script reports events and steps each second. One timer per view. */

/** A page stays active this long after user input, ms: a screen of text takes some 15 s. */
export const activityLastsMs = 15_000;
/** Minimum active time before scrolling counts, ms. */
export const minScrolledMs = 3_000;
/** Scrolling started by the user lasts at most this long, ms; other scrolling is the page's or the browser's. */
export const scrollLastsMs = 3_000;
/** Max length of a step, ms, as the machine may have slept. */
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
   * `now`, ms: when the page was opened, which is user activity. If only the address changed, `before` is the previous
   * view's timer and its activity continues.
   */
  constructor(now: number, before?: ReadingTimer) {
    this.#startedAt = now;
    this.#lastStep = now;
    this.#lastActivity = before === undefined ? now : before.#lastActivity;
    this.#lastInput = before === undefined ? Number.NEGATIVE_INFINITY : before.#lastInput;
  }

  /** When an active user first saw the page, or when it was opened. Ms. */
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

  /** Whether the user scrolls, which keeps the page active. */
  scrolling(now: number): boolean {
    const byPerson = now - this.#lastInput <= scrollLastsMs;
    if (byPerson) this.#lastActivity = now;
    return byPerson;
  }

  /** `share`: the part of the page above the lower edge of the window, 0 to 1. */
  scrolled(share: number): void {
    this.#share = Math.max(this.#share, share);
  }

  /** Count the time since the previous step, by the current attention. */
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
      this.#activeMs >= activeMs || (this.#share >= scrollShare && this.#activeMs >= Math.min(activeMs, minScrolledMs))
    );
  }
}
