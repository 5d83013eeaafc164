/**
 * Recognizes captchas, logins, consent dialogs and errors with status 200. Pages about these must pass, so words count
 * only with a matching heading, and longer texts need more evidence.
 */

export type Wall = 'challenge' | 'login_wall' | 'cookie_wall' | 'error_page' | 'needs_script';

export const wallNames: Readonly<Record<Wall, string>> = {
  challenge: 'challenge page',
  login_wall: 'login page',
  cookie_wall: 'cookie wall',
  error_page: 'error page',
  needs_script: 'a page that needs JavaScript',
};

export interface AnsweredPage {
  title: string | null;
  text: string;
  html: string;
}

interface Signs {
  wall: Wall;
  /** In the source of such pages only. */
  certain: RegExp | null;
  /** In the source of such pages and others. */
  hint: RegExp | null;
  /** Complete title (without site name) or first line. */
  heading: readonly string[];
  words: readonly string[];
  /** Words of walls only; need no source. */
  unmistakable: readonly string[];
}

/** Maximum characters of text for a heading alone, or words with a large share of it. */
const barely = 160;
/** The same for a heading with words. */
const short = 600;
/** The same for a certain sign in the source, or a heading with a hint. */
const modest = 1500;
/** The same for an empty shell before its scripts run. */
const loading = 40;
/** Minimum share of the words in a bare text; and in a text submitted under a wall's title. */
const ownShare = 0.4;
const submittedShare = 0.6;
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
        '<h1[^<>]{0,300}>whoa there, pardner!?</h1', // Reddit
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
      'whoa there, pardner',
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
    unmistakable: [
      'enable (?:javascript and cookies|cookies and javascript|js and cookies) to continue',
      'checking (?:if the site connection is secure|your browser before)',
      'needs to review the security of your connection before proceeding',
      'complet(?:e|ing) the (?:security check|captcha|challenge|action) (?:below|to (?:access|continue))',
      'press (?:&|and) hold to confirm',
      'our systems have detected unusual traffic from your',
      "you don't have permission to access .{1,200} on this server",
      '(?:^|\\n)(?:error (?:code:? )?1\\d{3}(?: ray id|\\n|$)|(?:cloudflare )?ray id:? ?[0-9a-f]{6})',
      'your request has been blocked due to a network policy|you appear to be a bot',
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
      "anmelden|anmeldung|einloggen|(?:se )?connexion|se connecter|connectez-vous|s'identifier|identification|iniciar sesi[oó]n|iniciar sess[aã]o|acceder|accedi|accesso|entrar|inloggen|aanmelden",
      'logga in|zaloguj się|вход|войти|авторизация|ログイン|登录|登入|로그인',
    ],
    words: [
      '(?:forgot(?:ten)?|reset) (?:your )?password',
      '(?:log|sign) in to (?:continue|view|access|read|see|your)',
      '(?:must|need to|please|have to) (?:be logged in|log in|sign in)',
      "don't have an account",
      'keep me (?:logged|signed) in|remember me',
      '(?:^|\\n)(?:(?:e-?mail(?: address)?|user ?name)\\n+)?(?:password|passwort|mot de passe|contraseña)(?=\\n|$)',
      'passwort vergessen|mot de passe oublié|olvidado (?:tu|su|la) contraseña|забыли пароль|忘记密码|パスワードを',
    ],
    unmistakable: ['(?:log|sign) in to continue'],
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
    unmistakable: [
      'we and our (?:\\d+ )?partners|we use cookies (?:and (?:data|other|similar)|to (?:deliver|ensure|improve|personali[sz]e))',
    ],
  },
  {
    wall: 'error_page',
    certain: null,
    hint: null,
    heading: [
      '(?:http )?(?:error|status)?(?: code)?[ :#]{0,2}(?:40[0-9]|410|429|451|50[0-4]|52[0-7])(?:[ :(–—-]{0,3}(?:error|(?:page |file )?not found|forbidden|too many requests|bad gateway|gone|internal server error|service (?:temporarily )?unavailable|gateway time-?out|access denied)[ )]{0,2})?(?: error| page)?',
      '(?:error|oops|sorry|whoops|uh-?oh)',
      "(?:oops|sorry|whoops|uh-?oh)?[ ,.!…-]{0,3}(?:this|that|the|we can't find (?:this|that|the)|we couldn't find (?:this|that|the))? ?(?:page|file|article|content|document|resource|url|object|site)(?: you(?:'re| are| were)? (?:requested|looking for))?(?: (?:was|is|can't be|cannot be|could not be|couldn't be))? ?(?:not found|found|unavailable|not available|no longer available|does not exist|doesn't exist|isn't available|error)",
      "we can't find (?:that|the|this) page|we couldn't find (?:that|the|this) page",
      'not found|too many requests|bad (?:gateway|request)|gateway time-?out|internal server error|service (?:temporarily )?unavailable|forbidden',
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
    unmistakable: [
      'the requested (?:page|url|resource|document) .{0,200}(?:not found|not be found|not exist)',
      "the page you(?:'re| are| were) looking for",
      'error establishing a database connection',
      '(?:^|\\n)(?:nginx|openresty)/[\\d.]+(?:\\n|$)',
    ],
  },
];

/** Messages of an empty shell, mostly in `noscript`, which is not readable text. */
const needsScript = anyOf([
  '(?:enable|requires?|needs?|without|turn on|activate|activez|aktivieren(?: sie)?|habilit[ae]r?|activ[ae]r?|включите) (?:your )?javascript',
  'javascript (?:is|must be|needs to be|has been|muss|est|está) (?:\\w+ )?(?:disabled|enabled|required|turned|aktiviert|activé|désactivé)',
]);

const compiled = all.map((signs) => ({
  ...signs,
  // The site's name may follow or precede it.
  heading: new RegExp(`^(?:${signs.heading.join('|')})[ .!?…:)]*$`, 'i'),
  words: anyOf(signs.words),
  unmistakable: anyOf(signs.unmistakable),
}));

/** Null for a page. Linear in the source. */
export function recognizeWall({ title, text, html }: AnsweredPage): Wall | null {
  const { length } = text;
  if (length > modest) return null;
  const source = html.slice(0, sourceLength);
  const said = plainQuotes(text);
  const headings = [...headingsOf(plainQuotes(title ?? '')), firstLineOf(said)];
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

/**
 * For a text submitted without its page; null: no wall. A wall has the heading of a wall as title or first line, and
 * words that only walls have, or hardly any other words.
 */
export function recognizeWallText(title: string | null, text: string): Wall | null {
  if (text.length > short) return null;
  const said = plainQuotes(text);
  const headings = headingsOf(plainQuotes(title ?? firstLineOf(said)));
  const isHeading = (line: string) => headings.some((each) => each.toLowerCase() === line.trim().toLowerCase());
  const lines = said.split('\n').filter((line) => !isHeading(line));
  const found = compiled.find(({ heading, words, unmistakable }) => {
    if (!headings.some((line) => heading.test(line))) return false;
    if (lines.join('\n').search(unmistakable) !== -1) return true;
    if (title === null) return false;
    const others = lines
      .flatMap((line) => line.split(/(?<=[.!?]) /))
      .filter((sentence) => !heading.test(sentence.trim()));
    return others.every((sentence) => sentence.trim() === '') || shareOf(others.join('\n'), words) >= submittedShare;
  });
  return found?.wall ?? null;
}

export function isWallTitle(title: string): boolean {
  return compiled.some(({ heading }) => heading.test(plainQuotes(title.trim())));
}

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

/** The title, and its parts without the site's name. */
function headingsOf(title: string): string[] {
  return [title, ...title.split(/ [|–—·»:-]+ |: | \| ?/)].map((line) => line.trim()).filter((line) => line !== '');
}

const firstLineOf = (text: string): string => (text.slice(0, barely).split('\n', 1)[0] ?? '').trim();

/** 0 for a text that is not bare. */
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
