/**
 * Whether laid-out content is visible: not transparent, too small, clipped, or unreachable by scrolling. Content about to fade in counts,
 * and so do formulas for assistive technology next to their pictures. Without layout (tests) everything counts.
 */

/** Less opaque content is unreadable. */
const minOpacity = 0.05;
const minFontPx = 2;
/** A box this narrow or low clips everything. */
const maxClippedPx = 1;

/** The scrolling container of an element: a box, the page, or none if fixed. */
export interface Place {
  within: Element | 'page' | 'window';
  /** Moved by a transform, like slides: content before the start can be moved back. */
  isMoved: boolean;
}

export const pagePlace: Place = { within: 'page', isMoved: false };
const windowPlace: Place = { within: 'window', isMoved: false };

/** Undefined without layout. */
export const styleOf = (element: Element): CSSStyleDeclaration | undefined => globalThis.getComputedStyle?.(element);

const isFloating = ({ position }: CSSStyleDeclaration): boolean => position === 'absolute' || position === 'fixed';
const isMoved = ({ transform, translate }: CSSStyleDeclaration): boolean =>
  transform !== 'none' || translate !== 'none';

/**
 * Whether an element will fade in: one in the normal flow with a transition or transform. Menus, hints and dialogs are
 * out of the flow and appear on request.
 */
function isFadingIn(element: Element, style: CSSStyleDeclaration): boolean {
  if (isFloating(style)) return false;
  const changes = style.animationName !== 'none' || /[1-9]/.test(style.transitionDuration);
  return changes || isMoved(style) || /opacity/.test(style.willChange) || element.getAnimations().length > 0;
}

const clipBox = /^rect\((-?[\d.]+)px, (-?[\d.]+)px, (-?[\d.]+)px, (-?[\d.]+)px\)$/;
const emptyPath = /^(?:inset\((?:[5-9]\d|\d{3,})(?:\.\d+)?%\)|circle\(0|polygon\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\))/;

/** Completely clipped, like texts for screen readers. */
function isClippedAway(element: Element, style: CSSStyleDeclaration, isBox: boolean): boolean {
  const [, top, right, bottom, left] = (isFloating(style) && clipBox.exec(style.clip)) || [];
  if (Number(right) - Number(left) <= maxClippedPx || Number(bottom) - Number(top) <= maxClippedPx) return true;
  if (emptyPath.test(style.clipPath)) return true;
  // Frames clip as they are; inline elements have no box; a missing picture has a text.
  const isFrame = element.localName === 'iframe';
  if (!isFrame && (!isBox || element.firstChild === null)) return false;
  return (
    (element.clientWidth <= maxClippedPx && (isFrame || style.overflowX !== 'visible')) ||
    (element.clientHeight <= maxClippedPx && (isFrame || style.overflowY !== 'visible'))
  );
}

const clips = ({ overflowX, overflowY }: CSSStyleDeclaration): boolean =>
  overflowX !== 'visible' || overflowY !== 'visible';

/** The place of an element's contents; null if neither it nor its contents are visible. `element` without names (`withoutNames`). */
export function contentsPlace(element: Element, given: Element, place: Place): Place | null {
  const style = styleOf(given);
  if (style === undefined) return place;
  const { localName, ownerDocument } = element;
  // A body's box is the window, unless it scrolls itself.
  if (localName === 'body')
    return ownerDocument.scrollingElement !== given && element.scrollTop !== 0
      ? { within: element, isMoved: false }
      : pagePlace;
  const { display, position } = style;
  if (display === 'contents') return place;
  if (Number(style.opacity) < minOpacity && !isFadingIn(element, style)) return null;
  const isBox = clips(style) && display !== 'inline';
  if (isClippedAway(element, style, isBox) && element.firstElementChild?.localName !== 'math') return null;
  const own = position === 'fixed' ? windowPlace : isMovedHere(style) ? { ...place, isMoved: true } : place;
  if (!isBox && localName !== 'iframe') return own;
  return isBeyond(element.getBoundingClientRect(), own, ownerDocument) ? null : { within: element, isMoved: false };
}

const isMovedHere = (style: CSSStyleDeclaration): boolean => isMoved(style) && !isFloating(style);

/** Whether text directly in an element has too small a font. */
export const isTooSmall = (element: Element): boolean =>
  Number.parseFloat(styleOf(element)?.fontSize ?? '') < minFontPx;

/** Shared: browsers update every range on page changes. */
let range: Range | undefined;

/** Whether text has no layout, as possible in a closed root, or is unreachable by scrolling. */
export function isOutOfReach(
  text: Node,
  { isClosed, place, of }: { isClosed: boolean; place: Place; of: Element | null },
): boolean {
  if (of === null || styleOf(of) === undefined) return false;
  range ??= new Range();
  range.selectNode(text);
  if (isClosed && range.getClientRects().length === 0) return true;
  return isBeyond(range.getBoundingClientRect(), place, of.ownerDocument);
}

/** Whether scrolling may start at the bottom or right, as in chats. */
const beginsElsewhere = ({ flexDirection, flexWrap, writingMode }: CSSStyleDeclaration): boolean =>
  /-reverse$/.test(flexDirection) || /-reverse$/.test(flexWrap) || writingMode !== 'horizontal-tb';

/** Whether a box lies before the start of its container, where scrolling cannot reach. */
function isBeyond(box: DOMRect, { within, isMoved }: Place, { defaultView, documentElement }: Document): boolean {
  // Text without a box is where it is displayed.
  if (isMoved || defaultView === null || (box.width === 0 && box.height === 0)) return false;
  if (within === 'window') {
    const { innerWidth, innerHeight } = defaultView;
    return box.right <= 0 || box.bottom <= 0 || box.left >= innerWidth || box.top >= innerHeight;
  }
  const isPage = within === 'page';
  const { left, right, top } = isPage
    ? { left: 0, right: documentElement.clientWidth, top: 0 }
    : within.getBoundingClientRect();
  const [scrollX, scrollY] = isPage
    ? [defaultView.scrollX, defaultView.scrollY]
    : [within.scrollLeft, within.scrollTop];
  const isAbove = box.bottom <= top - scrollY;
  if (!isAbove && box.right > left - scrollX && box.left < right - scrollX) return false;
  const style = styleOf(isPage ? (documentElement.querySelector('body') ?? documentElement) : within);
  if (style === undefined || beginsElsewhere(style)) return false;
  // Right-to-left pages extend to the left.
  return isAbove || (style.direction === 'rtl' ? box.left >= right - scrollX : box.right <= left - scrollX);
}
