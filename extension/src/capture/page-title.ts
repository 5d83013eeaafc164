/** The page title: `og:title`, which has no site name or message count, or the tab's if that tag describes another page or the site. Pure. */

export interface TitleSigns {
  /** Title of the tab. */
  title: string;
  /** All `og:title`s: single-page apps may add their own. */
  shared: readonly string[];
  siteName: string;
  /** `og:url`, or ''. */
  sharedAddress: string;
  /** Headings of the first level. */
  headings: readonly string[];
  address: string;
  /** Whether the address has changed since the load. */
  hasMoved: boolean;
}

const line = (text: string): string => text.replace(/\s+/g, ' ').trim();
const letters = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Parts of a tab's title, between separators. */
const partsOf = (title: string): string[] => title.split(/\s+(?:::|[|｜–—·•»-])\s+|:\s+/u).map(letters);

/** Whether the host contains these letters; does not match `The New York Times` with nytimes.com. */
function isHost(text: string, address: string): boolean {
  const host = letters(new URL(address).hostname);
  return text.length > 2 && host.includes(text);
}

/** Whether two addresses are the same page, ignoring parameters. */
function isSamePage(one: string, other: string): boolean {
  if (!URL.canParse(one, other)) return true; // this shows nothing
  const [a, b] = [new URL(one, other), new URL(other)].map(({ hostname, pathname }) => ({
    host: hostname.replace(/^www\./, ''),
    path: pathname.replace(/\/+$/, ''),
  }));
  return a.host === b.host && a.path === b.path;
}

export function pageTitle(signs: TitleSigns): string {
  const { siteName, sharedAddress, address, hasMoved } = signs;
  const title = line(signs.title);
  const shared = signs.shared.map(line).filter((each) => letters(each) !== '');
  if (shared.length === 0) return title;
  if (letters(title) === '') return shared[0];
  const headings = signs.headings.map(letters);
  const parts = partsOf(title);
  const isSite = (text: string): boolean => text === letters(siteName) || isHost(text, address);
  const isOfSite = (each: string): boolean => {
    const text = letters(each);
    if (headings.includes(text)) return false;
    // The last part is the site's name, unless the first one is.
    return isSite(text) || (parts.length > 1 && parts.at(-1) === text && !isSite(parts[0]));
  };
  const isSaid = (each: string): boolean => {
    const text = letters(each);
    return headings.includes(text) || letters(title).includes(text) || text.includes(letters(title));
  };
  const ofPage = shared.filter((each) => !isOfSite(each));
  const said = ofPage.find(isSaid);
  if (said !== undefined) return said;
  // Differs from the tab's title: a headline for sharing, or left from the previous page.
  const mayBeOther = hasMoved || !isSamePage(sharedAddress || address, address);
  return mayBeOther ? title : (ofPage[0] ?? title);
}
