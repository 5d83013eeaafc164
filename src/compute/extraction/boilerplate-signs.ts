/** Words in `class` and `id` that themes share, not specific to any site. */

/** Kinds of boilerplate. The parts of a word such as `read-more` must be adjacent and in order. */
const kinds: readonly string[] = [
  'related relatedcontent relatedlinks relatedposts recommended recommendations recirc recirculation read-more readmore read-next ' +
    'readnext more-stories more-from more-on also-read also-like you-may-like trending most-read mostread most-popular mostpopular ' +
    'popular-posts outbrain taboola zergnet teaser teasers jp-relatedposts yarpp up-next story-links next-article',
  'breadcrumb breadcrumbs nav navbar navigation subnav menu pagination pager skip-link skip-to skiplink sitemap',
  'share sharing sharebar sharedaddy sharetools share-buttons social socials social-links addthis addtoany follow-us followus ' +
    'toolbar print-only article-tools',
  'newsletter newsletters subscribe subscription signup sign-up optin opt-in mailchimp donate donation paywall-prompt call-to-action cta',
  'comments commentlist comment-list comment-respond disqus livefyre discussion-thread comentarios commentaires kommentare ' +
    'kommentarer commenti reacties komentarze yorumlar',
  'cookie cookies cookie-notice cookie-banner consent gdpr',
  'advert adverts advertisement advertising advertorial adsense ad-container ad-slot ad-wrapper adslot dfp sponsored sponsor promo ' +
    'promos promotion promobox banner',
  'byline bylines by-line author authors author-name dateline timestamp publish-date published-date pubdate post-date posted-on ' +
    'post-meta entry-meta article-meta postmetadata meta-info read-time reading-time last-updated',
  'author-bio author-box authorbox about-author about-the-author author-info author-card bio-box',
  'caption captions photo-caption image-caption wp-caption-text figcaption credit credits photo-credit image-credit copyright ' +
    'photo-by',
  'tags taglist tag-list tag-links tagcloud cat-links categories post-tags entry-tags topics-list kicker eyebrow',
  'toc table-of-contents tableofcontents ez-toc-container',
  'sr-only screen-reader-text visually-hidden visuallyhidden noprint tooltip modal popup overlay lightbox',
];

/** Neutral words: they neither have nor change meaning. */
const layoutWords = (
  'account action actions active after all alt anchor area arrow article articles aside avatar back badge bar before below block blog body bottom box ' +
  'brand btn button buttons card cards cart category cell child children close col collapse column component contact container content controls copy ' +
  'count counter css current custom default description desktop detail details divider document drawer dropdown element email embed end entry expand ' +
  'facebook feature featured feed field first fixed footer form full gallery global grid group head header heading headline hentry hero holder home icon ' +
  'icons image images img info inline inner input instagram intro item items js kit label last latest layout left level li light link linkedin links list ' +
  'lists login logo main mega message misc mob mobile module more name new news next object open outer overview page pages panel parent phone pinterest ' +
  'post posts prev previous primary print product products profile quick rail reddit region reply respond responsive right root row search secondary ' +
  'section sections separator side simple single site slider slot small sticky stories story style sub submenu submit subtitle svg tab tabs template text ' +
  'theme thread title toggle toggler tool tools top topbar trigger twitter type ul unit user video view visual whatsapp wide widget widgets wrap wrapper ' +
  'youtube'
).split(' ');
/** Too weak to remove an element by, but weighed by Readability. */
const weighedWords = 'comment disqus footer header masthead meta replies rss shoutbox sidebar skyscraper widget'.split(
  ' ',
);
/** A first part this short is a prefix of a site or theme, except these, which negate. */
const longestPrefix = 4;
const turning = new Set(['no', 'non', 'not', 'has', 'is', 'un', 'bg', 'com', 'text', 'font', 'hide', 'show', 'with']);

/** `sign`: the kind's first word. */
const byFirstPart = new Map<string, { sign: string; parts: string[] }[]>();
const weighedParts = new Set([...layoutWords, ...weighedWords]);
const knownParts = new Set(weighedParts);
for (const words of kinds.map((kind) => kind.split(' '))) {
  for (const word of words) {
    const parts = word.split('-');
    const same = byFirstPart.get(parts[0]) ?? [];
    same.push({ sign: words[0], parts });
    byFirstPart.set(parts[0], same);
    for (const part of parts) knownParts.add(part);
  }
}

/** Longer names are generated. */
const longestName = 400;

const commentsName =
  /(?:^|\s)(?:(?:comments|comentarios|commentaires|kommentare|kommentarer|commenti|reacties|komentarze|yorumlar|комментарии)(?:[-_](?:area|list|section))?|comment[-_]?list|disqus_thread)(?:\s|$)/i;

/** Whether the whole name means a list of comments; `has-comments` does not. */
export const isComments = (names: string): boolean => commentsName.test(names.slice(0, longestName));

const partOfComments = /(?:^|[\s_-])(?:comments?|disqus)(?:$|[\s_-])/i;

/** The same for a name of which a part says so: `post-comments`. */
export const isOfComments = (names: string): boolean =>
  isComments(names) || partOfComments.test(names.slice(0, longestName));

/** Empty if any part is unknown: `CtxtMenu` is no menu, `overflow-hidden` hides nothing. */
function partsOf(name: string, known: ReadonlySet<string>): string[] {
  const parts = name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== '');
  const isKnown = (part: string, at: number): boolean =>
    known.has(part) || part.length <= (at === 0 ? longestPrefix : 1);
  return (parts.length === 1 || !turning.has(parts[0])) && parts.every(isKnown) ? parts : [];
}

/** The kind of boilerplate by class and id, or null. Names count as a whole. Linear; reads 400 characters. */
export function boilerplateName(names: string): string | null {
  for (const name of names.slice(0, longestName).split(/\s+/)) {
    const parts = partsOf(name, knownParts);
    for (const [at, part] of parts.entries()) {
      const found = byFirstPart
        .get(part)
        ?.find((sign) => sign.parts.every((each, offset) => parts[at + offset] === each));
      if (found !== undefined) return found.sign;
    }
  }
  return null;
}

/** `hidden` is only a part of `visually-hidden`; what `md:` or `print:` stands before depends on the screen. */
const isWeighed = (name: string): boolean =>
  !name.includes(':') && (partsOf(name, weighedParts).length > 0 || boilerplateName(name) !== null);

/** Gives names that Readability would misread a neutral one, the same name always the same. One per page. */
export function nameNeutralizer(): (names: string) => string {
  const replaced = new Map<string, string>();
  return (names) =>
    names
      .slice(0, longestName)
      .split(/\s+/)
      .map((name) => {
        if (name === '' || isWeighed(name)) return name;
        const known = replaced.get(name) ?? `n${replaced.size}`;
        replaced.set(name, known);
        return known;
      })
      .join(' ');
}
