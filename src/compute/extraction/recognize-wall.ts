/**
 * Tells a page from what stands in front of it: captchas, logins, cookie questions, errors that call themselves 200. A page about
 * such things must stay a page: so words count only beside a heading that says the same, and the more there is to read the more it
 * takes. Called on an extraction thread, for what was fetched.
 */

export type Wall = 'challenge' | 'login_wall' | 'cookie_wall' | 'error_page' | 'needs_script';

export interface AnsweredPage {
  title: string | null;
  /** Readable text. */
  text: string;
  html: string;
}

interface Signs {
  wall: Wall;
  /** In the source: what only such a page has. */
  certain: RegExp | null;
  /** In the source: what such a page has, and others. */
  hint: RegExp | null;
  /** What the title, without the site's name, or the first line consists of. */
  heading: readonly string[];
  /** Said to the reader. */
  words: readonly string[];
}

/** Characters of readable text up to which a heading is enough, or words that make up much of the text. */
const barely = 160;
/** …up to which a heading and words are enough. */
const short = 600;
/** …and up to which something in the source is enough, alone if it is certain, else with a heading. */
const modest = 1500;
/** …and up to which it is what a shell shows before its scripts have run. */
const loading = 40;
/** Share of a bare text that words must make up to be enough. */
const ownShare = 0.4;
/** Characters of source that are looked at. */
const sourceLength = 200_000;

const all: readonly Signs[] = [
  {
    wall: 'challenge',
    certain: new RegExp(
      [
        '_cf_chl_opt|cf-browser-verification|id="(?:challenge-(?:form|error-text|running|stage)|cf-error-details)"', // Cloudflare
        'errors\\.edgesuite\\.net|sec-if-cpt-container|/_sec/cp_challenge', // Akamai
        'geo\\.captcha-delivery\\.com|captcha-delivery\\.com/[ci]\\.js', // DataDome
        'id="px-captcha', // HUMAN
        '_Incapsula_Resource\\?[SC]WUDNSAI|Incapsula incident id', // Imperva
        'awsWafCookieDomainList|gokuProps', // AWS
        '/\\.within\\.website/x/cmd/anubis|id="anubis_', // Anubis
        'vercel\\.link/security-checkpoint|sucuri_cloudproxy_js|Sucuri WebSite Firewall', // Vercel, Sucuri
        '/\\.well-known/ddos-guard/[a-z-]*challenge|KPSDK', // DDoS-Guard, Kasada
      ].join('|'),
      'i',
    ),
    hint: /\b(?:g-recaptcha|h-captcha|cf-turnstile|captcha-container)\b/i,
    heading: [
      'just a moment',
      'attention required',
      'access (?:to this page has been )?denied',
      'are you (?:a )?(?:human|robot)',
      'robot (?:or human|check)',
      'pardon our interruption',
      'security (?:check|checkpoint|challenge|verification)',
      '(?:human|bot|browser|performing security) verification',
      'verif(?:y|ying) (?:that )?you are (?:a )?(?:human|not a (?:bot|robot))',
      'one more step',
      'you (?:have been|are) (?:temporarily )?blocked|sorry, you have been blocked',
      'ddos-guard',
      "making sure you're not a bot",
      'vercel security checkpoint',
      'request (?:rejected|blocked|unsuccessful)',
      'captcha',
      'один момент|nur einen moment|un momento|un instant',
    ],
    words: [
      'enable (?:javascript and cookies|cookies and javascript|js and cookies)',
      'checking (?:if the site connection is secure|your browser before)',
      'verif(?:y|ying) (?:that )?you are (?:a )?(?:human|not a (?:bot|robot))',
      "(?:confirm|prove|make sure) (?:that )?you(?:'re| are) (?:a )?(?:human|not a (?:bot|robot))",
      'needs to review the security of your connection',
      "you don't have permission to access",
      'complete the (?:security check|captcha|challenge)',
      'press (?:&|and) hold',
      '(?:our systems have detected )?unusual (?:traffic|activity) (?:coming )?(?:from|on) your(?: computer)?(?: network)?',
      '(?:you have|your (?:access|request|ip)[^.]{0,60}) been blocked',
      'automated (?:access|requests|queries)',
      'made us think (?:that )?you',
      'the requested url was rejected',
      "i'm not a robot",
      'type the characters',
      '(?:ray|support|incident) id',
      'reference #',
    ],
  },
  {
    wall: 'login_wall',
    certain: null,
    hint: /<input\b[^<>]{0,300}\btype\s*=\s*["']?password/i,
    heading: [
      '(?:please )?(?:log|sign)[ -]?(?:in|on)(?: (?:or (?:sign up|register|create an account)|to (?:continue|your account|view this page)|required))?',
      'log ?in(?: (?:page|required))?',
      'log in to .{1,40}|sign in to .{1,40}',
      'authentication required|single sign-on|member login|account login|user login',
      'anmelden|anmeldung|einloggen|(?:se )?connexion|identification|iniciar sesi[oó]n|acceder|accedi|accesso|entrar|inloggen',
      'logga in|zaloguj się|вход|войти|авторизация|ログイン|登录|登入|로그인',
    ],
    words: [
      '(?:forgot(?:ten)?|reset) (?:your )?password',
      '(?:log|sign) in to (?:continue|view|access|read|see|your)',
      '(?:must|need to|please|have to) (?:be logged in|log in|sign in)',
      "don't have an account",
      'keep me (?:logged|signed) in|remember me',
      'passwort vergessen|mot de passe oublié|olvidado (?:tu|su|la) contraseña|забыли пароль|忘记密码|パスワードを',
    ],
  },
  {
    wall: 'cookie_wall',
    certain: null,
    hint: /consent\.(?:google|youtube|yahoo)\.|privacy-?gate|cookie-?wall|id="(?:onetrust-consent-sdk|CybotCookiebotDialog|didomi-host)/i,
    heading: [
      'before you continue(?: to .{1,40})?|bevor (?:du|sie) .{0,30}fortf.{1,10}|avant de continuer|antes de continuar|prima di continuare',
      '(?:.{1,40} )?privacy gate',
      'we value your privacy|your privacy(?: choices| matters)?|your data, your (?:choice|experience)',
      'cookies?(?: (?:consent|settings|preferences|choices|wall))?',
      '(?:give|your) consent|consent required',
    ],
    words: [
      '(?:accept|agree to|allow|reject) (?:all|cookies)|agree and (?:continue|close)',
      'we (?:and our|use) (?:\\d+ )?(?:partners|cookies)',
      'uses? cookies',
      'alle (?:akzeptieren|ablehnen)|tout (?:accepter|refuser)|aceptar (?:todo|todas)|accetta tutt[oi]',
    ],
  },
  {
    wall: 'error_page',
    certain: null,
    hint: null,
    heading: [
      '(?:http )?(?:error|status)?(?: code)?[ :#]{0,2}(?:40[0-9]|410|429|451|50[0-4]|52[0-7])(?:[ :(–—-]{0,3}(?:error|(?:page |file )?not found|forbidden|bad gateway|gone|internal server error|service (?:temporarily )?unavailable|gateway time-?out|access denied)[ )]{0,2})?(?: error| page)?',
      '(?:error|oops|sorry|whoops|uh-?oh)',
      "(?:oops|sorry|whoops|uh-?oh)?[ ,.!…-]{0,3}(?:this|that|the|we can't find (?:this|that|the)|we couldn't find (?:this|that|the))? ?(?:page|file|article|content|document|resource|url|object|site)(?: you(?:'re| are| were)? (?:requested|looking for))?(?: (?:was|is|can't be|cannot be|could not be|couldn't be))? ?(?:not found|found|unavailable|not available|no longer available|does not exist|doesn't exist|isn't available|error)",
      "we can't find (?:that|the|this) page|we couldn't find (?:that|the|this) page",
      'not found|bad (?:gateway|request)|gateway time-?out|internal server error|service (?:temporarily )?unavailable|forbidden',
      'an error (?:has )?occurred|something went wrong|application error|server error|runtime error|database (?:connection )?error',
      '(?:site )?(?:under|down for) (?:maintenance|construction)|(?:site|scheduled) maintenance|account suspended|temporarily unavailable',
      'seite nicht gefunden|page (?:introuvable|non trouvée)|página no encontrada|página não encontrada|pagina non trovata|pagina niet gevonden',
      'страница не найдена|页面不存在|页面未找到|ページが見つかりません(?:でした)?|페이지를 찾을 수 없습니다',
    ],
    words: [
      "(?:was|is|were|are|be|been) (?:not found|found|removed|deleted|moved)|not found|does(?:n't| not) exist|no longer (?:exists?|available)",
      "(?:can't|cannot|can not|couldn't|could not|unable to) (?:be )?(?:find|found|locate|located|display|complete|process)",
      'establishing a database connection',
      '(?:internal server|unexpected|application|server) error|an error (?:has )?occurred',
      'try again|come back|check (?:back|the (?:url|address|spelling))|search (?:for|our)',
      'unavailable|maintenance|overloaded|suspended',
      '(?:back|return|go|visit)(?: to)? (?:the |our )?(?:home ?page|home|front page|main page)',
      "nicht gefunden|existiert nicht|n'existe (?:pas|plus)|no existe|не найдена|не существует|不存在|見つかりません",
    ],
  },
];

/** What a page says that is an empty shell without scripts, mostly in `noscript`, which is not among the readable text. */
const needsScript = anyOf([
  '(?:enable|requires?|needs?|without|turn on|activate|activez|aktivieren(?: sie)?|habilit[ae]r?|activ[ae]r?|включите) (?:your )?javascript',
  'javascript (?:is|must be|needs to be|has been|muss|est|está) (?:\\w+ )?(?:disabled|enabled|required|turned|aktiviert|activé|désactivé)',
]);

const compiled = all.map((signs) => ({
  ...signs,
  // The site's name may follow or precede it.
  heading: new RegExp(`^(?:${signs.heading.join('|')})[ .!?…:)]*$`, 'i'),
  words: anyOf(signs.words),
}));

/** What stands in front of the page, or null for a page. Linear in the length of the source. */
export function recognizeWall({ title, text, html }: AnsweredPage): Wall | null {
  const { length } = text;
  if (length > modest) return null;
  const source = html.slice(0, sourceLength);
  const said = plainQuotes(text);
  const headings = headingsOf(plainQuotes(title ?? ''), said);
  for (const { wall, certain, hint, heading, words } of compiled) {
    if (certain?.test(source)) return wall;
    const isHeaded = headings.some((line) => heading.test(line));
    if (isHeaded && (length <= barely || hint?.test(source))) return wall;
    if (isHeaded && length <= short && said.search(words) !== -1) return wall;
    if (shareOf(said, words) >= ownShare) return wall;
  }
  if (shareOf(said, needsScript) >= ownShare) return 'needs_script';
  if (length > loading) return null;
  return wordsWithoutScript(source).search(needsScript) === -1 ? null : 'needs_script';
}

/** What the first elements `noscript` say. */
function wordsWithoutScript(source: string): string {
  const said: string[] = [];
  let at = 0;
  while (said.length < 20) {
    const start = source.indexOf('<noscript', at);
    const end = start === -1 ? -1 : source.indexOf('</noscript', start);
    if (end === -1) break;
    said.push(source.slice(start, Math.min(end, start + 5000)).replace(/<[^<>]*>/g, ' '));
    at = end;
  }
  return said.join(' ');
}

/** The title, its parts without the site's name, and the first line of the text. */
function headingsOf(title: string, text: string): string[] {
  const firstLine = text.slice(0, barely).split('\n', 1)[0] ?? '';
  return [title, ...title.split(/ [|–—·»:-]+ |: | \| ?/), firstLine]
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Share of a bare text that is made up of these words; 0 for one that is not bare. */
function shareOf(text: string, words: RegExp): number {
  if (text.length === 0 || text.length > barely) return 0;
  const matched = [...text.matchAll(words)].reduce((sum, [match]) => sum + match.length, 0);
  return matched / text.length;
}

function plainQuotes(text: string): string {
  return text.replace(/[’‘`´]/g, "'");
}

function anyOf(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'gi');
}
