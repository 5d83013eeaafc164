/**
 * Lines of boilerplate in common languages: labels of link lists, calls to action, facts about the article. Whole lines, lower case,
 * plain quotes; every pattern is linear.
 */

/** Announces links: "Related", "Read more:", "Lesen Sie auch". */
const labels = [
  'related(?: (?:articles?|stories|story|posts?|content|coverage|links?|news|topics?|reading|videos?))?',
  'read(?: more| next| also| on| the full story)?|also(?: (?:read|see|on|watch))?|see(?: also| more)?|more|more (?:stories|news|posts|articles|coverage|reading|like this|to read)',
  'more (?:from|on|about|in) .{1,60}|more .{1,30} (?:news|stories)|(?:top|latest|popular|trending|featured|recent|other|editor.s) (?:stories|posts|news|articles|picks?|videos?|now)',
  '(?:you|readers) (?:may|might|will|could)(?: also)? (?:like|enjoy|be interested in|want to (?:read|see))',
  'what to read next|up next|next up|don.t miss|in case you missed it|keep reading|continue reading|further reading|recommended(?: for you| reading| stories)?',
  'trending(?: now)?|most (?:read|popular|viewed|commented)|watch(?: also| more| next| now)?|story continues(?: below)?|dig deeper|go deeper',
  'lesen sie (?:auch|mehr)|mehr (?:zum thema|dazu)|das könnte (?:sie|dich) (?:auch )?interessieren|auch interessant|weiterlesen|verwandte (?:artikel|beiträge|themen)|passend dazu',
  '(?:à )?lire (?:aussi|également)|voir aussi|sur le même (?:sujet|thème)|à découvrir|articles? (?:liés?|similaires)',
  'leer? (?:también|más)|lea (?:también|además)|te puede interesar|también te puede interesar|noticias relacionadas|ver también|más (?:información|sobre .{1,40})',
  'lei?a (?:também|mais)|veja (?:também|mais)|(?:notícias|artigos|posts) relacionad[oa]s|saiba mais',
  'leggi anche|potrebbe interessarti(?: anche)?|articoli correlati|lees ook|lees meer|gerelateerd|czytaj (?:też|także|również)|zobacz (?:też|także)|läs (?:också|mer|även)|les også',
  'читайте (?:также|еще|ещё)|по теме|смотрите также|вам может быть интересно|материалы по теме|baca juga|lihat juga|ilgili haberler|đọc thêm',
  '関連(?:記事|リンク|ニュース|タグ)?|あわせて読みたい|おすすめ(?:記事)?|相关(?:阅读|文章|新闻|链接)|推荐(?:阅读)?|延伸阅读|관련 ?(?:기사|글|뉴스)',
];

/** Addresses the reader or describes the page; only matched before and after the text. */
const calls = [
  '(?:please )?(?:sign up|subscribe|register|join us|join our|log in|sign in)\\b.{0,200}',
  '(?:get|receive) .{1,80}(?:newsletter|inbox|letterbox|updates|email).{0,120}',
  '.{0,80}\\b(?:newsletter|mailing list)\\b.{0,80}',
  "(?:follow|like|find|join|connect with|contact|email|e-mail|reach|tweet|message) (?:us|me|him|her|them|the author|[\\p{L}.' -]{1,60})(?: (?:on|at|via|@)\\b).{0,160}",
  '.{0,60}(?:can|may) be reached (?:at|on|via)\\b.{0,160}|have a (?:tip|story|question)\\b.{0,160}|got a (?:tip|story)\\b.{0,160}',
  'click here\\b.{0,160}|tap here\\b.{0,160}|learn more|find out more|download (?:the|our) .{0,60}app\\b.{0,60}',
  '(?:share|tweet|pin|email|print|like|save)(?: (?:this|on|via|it|article|story|post)\\b.{0,40})?|share this.{0,40}',
  '(?:\\d+ )?(?:comments?|replies|responses|reactions)(?: \\(\\d+\\))?|(?:leave|post|add|write) (?:a|your) (?:comment|reply|response).{0,40}|comments are closed.{0,40}|join the (?:conversation|discussion)|(?:tell us )?what (?:do )?you think',
  'filed under\\b.{0,120}|tags?(?::.{0,200})?|tagged (?:with|as|in)?:?.{0,200}|categor(?:y|ies):.{0,120}|posted in\\b.{0,80}|topics?(?::.{0,160})?|keywords:.{0,200}',
  'about the (?:authors?|writer)|sources?:.{0,120}|via:?.{0,60}|advert(?:isement)?s?|anzeige|werbung|publicité|publicidad|publicidade|iklan|reklama|реклама|広告|广告|sponsored(?: content)?|promoted',
  '(?:copyright|©|\\(c\\) ?\\d{4}).{0,200}|.{0,80}all rights reserved.{0,120}|this (?:document|article|material|content) is (?:subject to copyright|protected by|copyright).{0,300}',
  '(?:the )?(?:views|opinions) expressed (?:in|by|here|are)\\b.{0,300}|this (?:post|article|page|site) (?:may )?contains? affiliate\\b.{0,200}|.{0,80}affiliate (?:and/or referral )?links?\\b.{0,160}',
  '(?:this (?:website|site)|we) uses? cookies\\b.{0,300}|this slideshow requires javascript.?|.{0,40}(?:enable|requires) javascript.{0,60}|skip to (?:main )?content|back to top|go to top|view (?:comments|gallery|slideshow|all)',
  '(?:additional )?reporting by\\b.{0,160}|editing by\\b.{0,160}|if you (?:enjoyed|liked) this (?:article|post|story)\\b.{0,400}|(?:previous|next)(?: (?:post|article|story|page))?|previous post:.{0,120}',
];

const monthName =
  '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|ene|abr|ago|dic|janv|févr|avr|juin|juil|août|déc|fev|set|out|gen|mag|giu|lug|ott)\\p{L}{0,9}\\.?';
const weekday = '(?:mon|tue|wed|thu|fri|sat|sun)\\p{L}{0,7}\\.?,? ?';
const date = `(?:${weekday})?(?:${monthName} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}|\\d{1,2}(?:st|nd|rd|th|\\.)?(?: de)? ${monthName},?(?: de)? \\d{4}|\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4})`;

/** About the article: date, author, reading time; only matched before and after the text. */
const facts = [
  `(?:(?:first|last|originally) )?(?:posted|published|updated|modified|created|aktualisiert|veröffentlicht|publié|publicado|pubblicato|опубликовано)(?: ?:| (?:on|at|by|in|am|le|el|em|il)\\b| \\d| ${weekday}| ${monthName} ).{0,100}`,
  "(?:written |words |story |text |photos? )?by:? (?:\\p{L}[\\p{L}.'-]*,? ?){1,8}|von \\p{Lu}.{0,50}|por \\p{Lu}.{0,50}|par \\p{Lu}.{0,50}",
  '(?:\\d+|one|two|three|a few) (?:min(?:ute)?s?|hours?|days?|weeks?|months?|years?) (?:ago|read)|.{0,30}reading time.{0,20}|tempo de leitura.{0,20}|lesezeit.{0,20}|\\d+ min(?:ute)? read',
  '(?:image|photo|picture|slide|bild) \\d+ (?:of|/|von)(?: /)? ?\\d+|\\d+ ?/ ?\\d+|caption|close|loading.{0,3}|play(?: video)?|video|gallery|listen|expand|enlarge',
  'https?://\\S{1,500}',
];

const credits = [
  '\\(?(?:photo(?:graph|graphy|s)?|image|picture|illustration|credit|video|foto|bild|quelle|crédit)s?(?: credits?| by| courtesy(?: of)?| via| from| source|s)?\\s?[:©/].{1,100}',
  '\\(?(?:photo|image|picture|illustration|photo illustration)s? by .{1,80}',
  "(?:[\\p{L}.' -]{1,50}[/|,] ?)?(?:getty(?: images)?|reuters|associated press|ap photo|afp|shutterstock|istock|epa|bloomberg|alamy|unsplash|pixabay|flickr|handout|file photo|wikimedia(?: commons)?)(?: ?[/|,].{0,60})?",
];

const whole = (patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})[\\s:.…!?»>→|]*$`, 'iu');

const label = whole(labels);
const call = whole(calls);
const fact = whole(facts);
const dated = whole([`.{0,40}\\b${date}.{0,40}`]);
const bareDate = whole([date]);
const credit = whole(credits);
const labelled = new RegExp(`^(?:${labels.join('|')})\\s?[:|–—-]\\s?`, 'iu');

export const longestBoilerplateLine = 400;

const plain = (line: string): string => line.replace(/[’‘`´]/g, "'");

export const isLabel = (line: string): boolean => line.length <= 80 && label.test(plain(line));
/** A full stop ends a sentence, except in times (a.m.). */
const sentenceEnd = /(?<![ap]\.?m)[.!?]$/i;
/** "Related: …". */
export const isLabelled = (line: string): boolean => line.length <= 200 && labelled.test(plain(line));
export const isCall = (line: string): boolean => line.length <= longestBoilerplateLine && call.test(plain(line));
const isFactWith = (pattern: RegExp, line: string): boolean =>
  line.length <= 160 && !sentenceEnd.test(line) && pattern.test(plain(line));
/** A date without a known meaning. */
export const isDated = (line: string): boolean => isFactWith(dated, line) && !isFactWith(fact, line);
export const isDate = (line: string): boolean => isFactWith(bareDate, line);
export const isFact = (line: string): boolean => isFactWith(fact, line) || isFactWith(dated, line);
export const isCredit = (line: string): boolean => line.length <= 120 && credit.test(plain(line));
