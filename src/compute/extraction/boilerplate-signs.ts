/**
 * The words by which elements say what they are, in `class` and `id`: the vocabulary that theme authors share, not that of any
 * site. Called while a page is cleared of what is around its article.
 */

/** A kind of boilerplate, and how much running text it may hold, in characters, and still be taken for it. */
export interface BoilerplateKind {
  longest: number;
  words: readonly string[];
}

const kind = (longest: number, words: string): BoilerplateKind => ({ longest, words: words.split(/\s+/) });

/**
 * A word of several parts, such as `read-more`, stands for these parts in this order and next to each other. Long texts are taken
 * for boilerplate only where the word means nothing else.
 */
const kinds: readonly BoilerplateKind[] = [
  // Ways to elsewhere.
  kind(
    1500,
    'related relatedcontent relatedlinks relatedposts recommended recommendations recirc recirculation read-more readmore read-next ' +
      'readnext more-stories more-from more-on also-read also-like you-may-like trending most-read mostread most-popular mostpopular ' +
      'popular-posts outbrain taboola zergnet teaser teasers jp-relatedposts yarpp up-next story-links next-article',
  ),
  kind(
    400,
    'breadcrumb breadcrumbs nav navbar navigation subnav menu pagination pager skip-link skip-to skiplink sitemap',
  ),
  // What readers are asked to do.
  kind(
    400,
    'share sharing sharebar sharedaddy sharetools share-buttons social socials social-links addthis addtoany follow-us followus ' +
      'toolbar print-only article-tools',
  ),
  kind(
    1000,
    'newsletter newsletters subscribe subscription signup sign-up optin opt-in mailchimp donate donation paywall-prompt call-to-action cta',
  ),
  kind(
    3000,
    'comments commentlist comment-list comment-respond disqus livefyre discussion-thread comentarios commentaires kommentare ' +
      'kommentarer commenti reacties komentarze yorumlar',
  ),
  kind(1500, 'cookie cookies cookie-notice cookie-banner consent gdpr'),
  kind(
    600,
    'advert adverts advertisement advertising advertorial adsense ad-container ad-slot ad-wrapper adslot dfp sponsored sponsor promo ' +
      'promos promotion promobox banner',
  ),
  // What is told of the article.
  kind(
    400,
    'byline bylines by-line author authors author-name dateline timestamp publish-date published-date pubdate post-date posted-on ' +
      'post-meta entry-meta article-meta postmetadata meta-info read-time reading-time last-updated',
  ),
  kind(1200, 'author-bio author-box authorbox about-author about-the-author author-info author-card bio-box'),
  kind(
    600,
    'caption captions photo-caption image-caption wp-caption-text figcaption credit credits photo-credit image-credit copyright ' +
      'photo-by',
  ),
  kind(
    400,
    'tags taglist tag-list tag-links tagcloud cat-links categories post-tags entry-tags topics-list kicker eyebrow',
  ),
  kind(1500, 'toc table-of-contents tableofcontents ez-toc-container'),
  // What is there for others than the reader.
  kind(600, 'sr-only screen-reader-text visually-hidden visuallyhidden noprint tooltip modal popup overlay lightbox'),
];

/** `sign`: the first word of its kind. */
export interface BoilerplateSign {
  sign: string;
  longest: number;
}

const byFirstPart = new Map<string, (BoilerplateSign & { parts: string[] })[]>();
for (const { longest, words } of kinds) {
  for (const word of words) {
    const parts = word.split('-');
    const same = byFirstPart.get(parts[0]) ?? [];
    same.push({ parts, longest, sign: words[0] });
    byFirstPart.set(parts[0], same);
  }
}

/** Names longer than this are made by programs. */
const longestName = 400;

const commentsName =
  /(?:^|\s)(?:(?:comments|comentarios|commentaires|kommentare|kommentarer|commenti|reacties|komentarze|yorumlar|комментарии)(?:[-_](?:area|list|section))?|comment[-_]?list|disqus_thread)(?:\s|$)/i;

/** Whether a class or id is, as a whole, what themes of any language call the list of comments; `has-comments` is none. */
export const isComments = (names: string): boolean => commentsName.test(names.slice(0, longestName));

/**
 * What kind of boilerplate an element of such a class and id is, the one that may be longest where there are several; null where the
 * names say nothing. Linear in the length of the names, of which 400 characters are read.
 */
export function boilerplateName(names: string): BoilerplateSign | null {
  let found: BoilerplateSign | null = null;
  for (const name of names.slice(0, longestName).split(/\s+/)) {
    const parts = name
      .replace(/([a-z])([A-Z])/g, '$1-$2')
      .toLowerCase()
      .split(/[^a-z]+/)
      .filter((part) => part !== '');
    for (let at = 0; at < parts.length; at++) {
      for (const sign of byFirstPart.get(parts[at]) ?? []) {
        const isLonger = found === null || sign.longest > found.longest;
        if (isLonger && sign.parts.every((each, offset) => parts[at + offset] === each)) found = sign;
      }
    }
  }
  return found;
}
