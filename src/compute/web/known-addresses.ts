/** Tracking parameters, and several addresses of one page on known sites. No rule may make one address of two pages. */
import { domainMatches, normalizeHost } from './domain-match.ts';
import { unescaped } from './unescaped.ts';

const wordsOf = (list: string): string[] => list.trim().split(/\s+/);

/** Identify a click, campaign or reader; `*` is any ending. Dropped only with a value: `?dm_i` may select a page. */
export const knownTrackingParams = [
  // Advertisement networks
  ...wordsOf(`
    gclsrc gad_source gad_campaignid gbraid wbraid dclid srsltid msclkid yclid ysclid ymclid twclid ttclid li_fat_id
    epik rdt_cid scclid qclid tblci obclid outbrainclickid dicbo irclickid irgwc cjevent ranmid raneaid ransiteid
    awc zanpid gdfms gdftrk gdffi s_kwcid ef_id wickedid wickedsource fb_action_ids fb_action_types fb_ref fb_source
    fbadid __cft__* __tn__ action_object_map action_ref_map
  `),
  // Mail and marketing programs
  ...wordsOf(`
    mc_cid mc_eid mc_tc _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok vero_id vero_conv _kx _ke
    ml_subscriber ml_subscriber_hash oly_anon_id oly_enc_id bsft_* dm_i ss_email_id ss_source ss_campaign_id sc_cid
    sc_campaign sc_channel sc_content sc_geo sc_outcome elqtrack elqtrackid elqaid elqat elqcampaignid rb_clickid
    ck_subscriber_id sb_referer_host inf_contact_key _bta_tid _bta_c trk_contact trk_msg trk_module trk_sid
    iterable_campaign sailthru_* spmailingid spuserid spjobid spreportid cm_mmc cm_mmca* __s nr_email_referer mtm_*
    matomo_* piwik_* pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid hsa_* stm_* itm_* at_medium
    at_campaign at_campaign_type at_custom* at_link_* at_ptr_* at_bbc_team at_format at_creation wt_mc wt_zmc wtrid
    xtor cmpid ito icid ncid ns_campaign ns_mchannel ns_source ns_linkname ns_fee ga_source ga_medium ga_term
    ga_content ga_campaign _ga _gl _gac _openstat guce_referrer guce_referrer_sig guccounter
  `),
  // Share buttons and referrers
  ...wordsOf(`
    igsh igshid ref_src spm spm_id_from algo_pvid algo_expid wprov soc_src soc_trk __twitter_impression amp_js_v
    amp_gsa amp_lite usqp aoh _branch_match_id _branch_referrer $deep_link phpsessid jsessionid
  `),
];

/** Domain, or domain and path prefix → further parameters that select nothing there; all matching entries count. */
const trackingParamsOf: Readonly<Record<string, readonly string[]>> = {
  'amazon.com': wordsOf('pf_rd_* pd_rd_* ref_ qid sr sprefix crid dib dib_tag content-id _encoding'),
  'bbc.com': wordsOf('ocid'),
  'bilibili.com': wordsOf('vd_source from_spmid share_* buvid bbid unique_k is_story_h5 plat_id'),
  'bloomberg.com': wordsOf('srnd sref leadsource'),
  'dailymotion.com': wordsOf('syndication'),
  'google.com/search': wordsOf('ved ei sa sourceid sclient gs_lp gs_lcp gs_lcrp oq aqs client ie sca_esv'),
  'instagram.com': wordsOf('ig_rid ig_mid'),
  'linkedin.com': wordsOf('trk trackingid lipi rcm refid midtoken midsig trkemail eid'),
  'nytimes.com': wordsOf('smid smtyp emc nl regi_id segment_id te campaign_id instance_id searchresultposition'),
  'open.spotify.com': wordsOf('context nd dl_branch'),
  'reddit.com': wordsOf(
    'rdt share_id ref_source ref_campaign correlation_id post_fullname context embed_host_url onetap_auto',
  ),
  'theguardian.com': wordsOf('cmp'),
  'tiktok.com': wordsOf('_t _r is_from_webapp sender_device is_copy_url'),
  'vimeo.com': wordsOf('share fl fe autoplay'),
  'washingtonpost.com': wordsOf('itid wpisrc wpmm'),
  'wikipedia.org': wordsOf('mobileaction'),
  'x.com': wordsOf('s t cxt ref_url'),
  'youtube.com': wordsOf('feature pp ab_channel app themerefresh cbrd ucbcb'),
};

/** Where a default parameter selects what is shown. GitLab's and Gitea's hosts often begin with the program's name. */
const keptParamsOf: Readonly<Record<string, readonly string[]>> = {
  'codeberg.org': ['ref'],
  'git.sr.ht': ['ref'],
  'gitea.com': ['ref'],
  'github.com': ['ref'],
  'gitlab.com': ['ref'],
};
const codeHost = /^(?:git|gitlab|gitea|forgejo)\./;

/** Entries of a table that match a place. A key is a domain, or a domain and whole segments of a path. */
export function placesLike(table: Readonly<Record<string, unknown>>, domain: string, path: string): string[] {
  return Object.keys(table).filter((place) => {
    const slash = place.indexOf('/');
    if (slash === -1) return domainMatches(domain, place);
    const below = place.slice(slash);
    const isBelow = path === below || path.startsWith(below.endsWith('/') ? below : `${below}/`);
    return isBelow && domainMatches(domain, place.slice(0, slash));
  });
}

export function trackingParamsAt(domain: string, path: string): string[] {
  return placesLike(trackingParamsOf, domain, path).flatMap((place) => trackingParamsOf[place]);
}

/** Parameters that select what is shown there, although others of the name track readers. */
export function selectingParamsAt(domain: string, path: string): string[] {
  if (codeHost.test(domain)) return ['ref'];
  return placesLike(keptParamsOf, domain, path).flatMap((place) => keptParamsOf[place]);
}

/** Copies of copies, such as an archived page of an AMP cache. */
const maxSteps = 8;

/** The usual form of an address: of the archived or cached page, the site's usual host, the video; or itself. */
export function usualAddress(address: URL): URL {
  if (!/^https?:$/.test(address.protocol)) return address;
  let found = address;
  for (let step = 0; step < maxSteps; step++) {
    const forms = [archivedPage, ampPage, usualHost, video];
    const next = forms.map((form) => form(found)).find((form) => form !== null && form.href !== found.href);
    if (next == null) break;
    found = next;
  }
  return found;
}

/** Domains with an address that `usualAddress` gives another domain. */
export const movedDomains = wordsOf(`
  archive.org archive.today archive.ph archive.is archive.li archive.vn archive.md archive.fo ampproject.org
  google.com bing.com amp.theguardian.com youtu.be youtube-nocookie.com youtube.com reddit.com twitter.com x.com
  imdb.com bilibili.com wikipedia.org wiktionary.org wikiquote.org wikibooks.org wikisource.org wikinews.org
  wikiversity.org wikivoyage.org wikimedia.org wikidata.org mediawiki.org
`);

/** Whether pages submitted under a domain may be stored under another one. */
export function mayMove(domain: string): boolean {
  return movedDomains.some((moved) => domainMatches(domain, moved) || domainMatches(moved, domain));
}

const waybackHost = /^(?:web\.|wayback\.|www\.)?archive\.org$/;
/** A time of at least a year, with the kind of the copy; none for the latest. A listing has `*`. */
const waybackPath = /^\/(?:web|wayback)\/(?:\d{4,14}(?:[a-z]{2}_)?\/)?(?=https?(?::|%3a))/i;
const bareWaybackPath = /^\/web\/\d{4,14}(?:[a-z]{2}_)?\/(?=[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[:/?]|$))/i;
const archiveTodayHost = /^archive\.(?:today|ph|is|li|vn|md|fo)$/;
const archiveTodayPath = /^\/(?:(?:newest|oldest|\d{4,14})\/)(?=https?:)/i;

function archivedPage(address: URL): URL | null {
  const { hostname, pathname, search, hash } = address;
  const isWayback = waybackHost.test(hostname);
  if (!isWayback && !archiveTodayHost.test(hostname)) return null;
  const paths = isWayback ? [waybackPath, bareWaybackPath] : [archiveTodayPath];
  const prefix = paths.map((path) => path.exec(pathname)?.[0]).find((found) => found !== undefined);
  if (prefix === undefined) return null;
  const rest = pathname.slice(prefix.length);
  const isEscaped = /^https?%3a/i.test(rest);
  return pageWritten(isEscaped ? unescaped(rest, '') : `${rest}${search}${hash}`);
}

/** The slashes of `http://` are often collapsed in paths. */
function pageWritten(written: string): URL | null {
  const whole = /^https?:/i.test(written) ? written.replace(/^(https?):\/*/i, '$1://') : `http://${written}`;
  if (!URL.canParse(whole)) return null;
  const page = new URL(whole);
  const host = normalizeHost(page.hostname);
  if (typeof host !== 'string' || !host.includes('.') || host.includes('*')) return null;
  return moved(page, { hostname: host });
}

const cacheKinds = /^\/[a-z]{1,2}\/(s\/)?(?=[^/]+\.[^/]+)/;
const viewerPath = /^\/amp\/(s\/)?(?=[^/]+\.[^/]+)/;
/** Sites whose AMP pages have these addresses; `$1` is the page's path. */
const ampPaths: readonly [hosts: RegExp, path: RegExp][] = [
  [/^(?:www\.)?bbc\.(?:com|co\.uk)$/, /^(\/(?:news|sport)\/.*[^/])\.amp$/],
  [/^(?:www\.)?(?:mirror|express|dailystar|manchestereveningnews)\.co\.uk$/, /^(\/.+[^/])(?:\.amp|\/amp)\/?$/],
  [/^(?:www\.)?(?:theverge|vox|polygon|sbnation|eater)\.com$/, /^\/platform\/amp(\/.+)$/],
  [/^(?:www\.)?cnbc\.com$/, /^\/amp(\/\d{4}\/.+)$/],
  [/^(?:www\.)?(?:techcrunch|variety|rollingstone|deadline|nypost|hollywoodreporter)\.com$/, /^(\/\d{4}\/.+\/)amp\/?$/],
  [/\.wordpress\.com$/, /^(\/\d{4}\/.+\/)amp\/?$/],
  [/^(?:www\.)?reddit\.com$/, /^(\/r\/[^/]+\/comments\/[^/]+\/[^/]+\/)amp\/?$/],
];

function ampPage(address: URL): URL | null {
  const { hostname, pathname, search } = address;
  const isCache = domainMatches(hostname, 'cdn.ampproject.org');
  const isViewer = /^(?:www\.)?(?:google\.com|bing\.com)$/.test(hostname);
  const prefix = isCache ? cacheKinds.exec(pathname) : isViewer ? viewerPath.exec(pathname) : null;
  if (prefix !== null) {
    const scheme = prefix[1] === undefined ? 'http' : 'https';
    const page = pageWritten(`${scheme}://${pathname.slice(prefix[0].length)}${search}`);
    return page === null ? null : withoutAmp(page);
  }
  if (hostname === 'amp.theguardian.com') return moved(address, { hostname: 'www.theguardian.com' });
  for (const [hosts, path] of ampPaths) {
    const page = hosts.test(hostname) ? path.exec(pathname) : null;
    if (page !== null) return moved(address, { pathname: page[1] });
  }
  return null;
}

/** A page of an AMP cache is an AMP page, so these parts of its address select nothing else. */
function withoutAmp(page: URL): URL {
  const pathname = page.pathname.replace(/(.)\/amp\/?$/, '$1').replace(/\.amp(\.html)?$/, '$1');
  const others = page.search
    .slice(1)
    .split('&')
    .filter((parameter) => !/^(?:amp(?:=(?:1|true)?)?|outputtype=amp)$/i.test(parameter));
  return moved(page, { pathname, search: others.join('&') });
}

/** Hosts with the paths of another one. */
const usualHosts: readonly [hosts: RegExp, usual: string, paths?: RegExp][] = [
  [/^(?:(?:www|old|new|m|amp|np|i|pay)\.)?reddit\.com$/, 'www.reddit.com'],
  [/^(?:(?:www|mobile|m)\.)?(?:twitter|x)\.com$/, 'x.com'],
  [
    /^([a-z-]+)\.m\.(wikipedia|wiktionary|wikiquote|wikibooks|wikisource|wikinews|wikiversity|wikivoyage|wikimedia)\.org$/,
    '$1.$2.org',
  ],
  [/^m\.(wikidata|mediawiki)\.org$/, 'www.$1.org'],
  [/^m\.imdb\.com$/, 'www.imdb.com'],
  [/^m\.bilibili\.com$/, 'www.bilibili.com', /^\/video\//],
  [/^m\.youtube\.com$/, 'www.youtube.com'],
];

function usualHost(address: URL): URL | null {
  if (address.port !== '') return null;
  for (const [hosts, usual, paths] of usualHosts) {
    if (!hosts.test(address.hostname) || paths?.test(address.pathname) === false) continue;
    return moved(address, { protocol: 'https:', hostname: address.hostname.replace(hosts, usual) });
  }
  return null;
}

const youtubeHost = /^(?:www\.)?youtube(?:-nocookie)?\.com$/;
const videoPath = /^\/(?:shorts|embed|live|v|e)\/([\w-]{11})\/?$/;
const videoId = /^[\w-]{11}$/;
/** As long as the id of a video. */
const noVideos = ['videoseries', 'live_stream'];
/** Where in a list the video was played. */
const playedIn = ['list', 'index', 'start_radio', 'v'];

function video(address: URL): URL | null {
  const { hostname, pathname, searchParams } = address;
  const isWatched = pathname === '/watch' && youtubeHost.test(hostname);
  const path = youtubeHost.test(hostname) ? videoPath.exec(pathname)?.[1] : undefined;
  const short = hostname === 'youtu.be' ? pathname.replace(/^\/|\/$/g, '') : undefined;
  const id = isWatched ? (searchParams.get('v') ?? '') : (path ?? short ?? '');
  if (!videoId.test(id) || noVideos.includes(id)) return null;
  const others = address.search.slice(1).split('&');
  const kept = others.filter((parameter) => parameter !== '' && !playedIn.includes(parameter.replace(/=.*/s, '')));
  return moved(address, {
    protocol: 'https:',
    hostname: 'www.youtube.com',
    pathname: '/watch',
    search: [`v=${id}`, ...kept].join('&'),
  });
}

type Parts = Partial<Pick<URL, 'protocol' | 'hostname' | 'pathname' | 'search'>>;

function moved(address: URL, parts: Parts): URL {
  return Object.assign(new URL(address), parts);
}
