/** What stands in front of pages, as the makers of such pages build them, in few words; by what it should be recognised as. */
import type { Wall } from '../../../src/compute/extraction/recognize-wall.ts';

const page = (title: string, body: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body>${body}</body></html>`;

export const wallPages: Record<string, { wall: Wall; html: string }> = {
  'a JavaScript challenge': {
    wall: 'challenge',
    html: page(
      'Just a moment...',
      '<div class="main-wrapper"><noscript><div>Enable JavaScript and cookies to continue</div></noscript></div><script>window._cf_chl_opt={cvId:"3"};</script>',
      '<meta http-equiv="refresh" content="390">',
    ),
  },
  'a block by a firewall': {
    wall: 'challenge',
    html: page(
      'Attention Required! | Cloudflare',
      '<div id="cf-error-details"><h1>Sorry, you have been blocked</h1><h2>You are unable to access shop.example</h2><h3>Why have I been blocked?</h3><p>This website is using a security service to protect itself from online attacks. The action you just performed triggered the security solution.</p><p>Cloudflare Ray ID: 8a1b</p></div>',
    ),
  },
  'an edge server that denies': {
    wall: 'challenge',
    html: page(
      'Access Denied',
      '<h1>Access Denied</h1>You don\'t have permission to access "http://shop.example/page" on this server.<p>Reference #18.2d351ab8.1690000000.a4e16ab</p>',
    ),
  },
  'a captcha of another firm': {
    wall: 'challenge',
    html: page(
      'shop.example',
      '<p id="cmsg">Please enable JS and disable any ad blocker</p><script>var dd={"rt":"c","host":"geo.captcha-delivery.com"}</script>',
    ),
  },
  'a button to press': {
    wall: 'challenge',
    html: page(
      'Access to this page has been denied',
      '<h1>Before we continue...</h1><p>Press &amp; Hold to confirm you are a human (and not a bot).</p><div id="px-captcha"></div>',
    ),
  },
  'a puzzle before the page': {
    wall: 'challenge',
    html: page(
      'Robot or human?',
      '<h1>Activate and hold the button to confirm that you’re human.</h1><p>Thank you! Try a different method.</p>',
    ),
  },
  'proof of work': {
    wall: 'challenge',
    html: page('Making sure you&#39;re not a bot!', '<h1>Making sure you&#39;re not a bot!</h1><p>Loading...</p>'),
  },
  'traffic that is unusual': {
    wall: 'challenge',
    html: page(
      'https://search.example/',
      '<div class="g-recaptcha"></div><p>Our systems have detected unusual traffic from your computer network.</p>',
    ),
  },
  'an incident': {
    wall: 'challenge',
    html: page(
      '',
      '<iframe src="/_Incapsula_Resource?SWUDNSAI=9">Request unsuccessful. Incapsula incident ID: 1-2</iframe>',
    ),
  },
  'a limit on automated requests': {
    wall: 'challenge',
    html: page(
      'Blocked',
      `<h1>whoa there, pardner!</h1><p>Your request has been blocked due to a network policy.</p>${'<p>Try logging in or creating an account here to get back to browsing, or give your script a user agent of its own.</p>'.repeat(7)}`,
    ),
  },
  'a limit on requests': {
    wall: 'error_page',
    html: page('Too Many Requests', '<h1>Too Many Requests</h1><p>You have been rate limited.</p>'),
  },
  'a French login': { wall: 'login_wall', html: page('Se connecter', '<h1>Se connecter</h1>') },
  'a login': {
    wall: 'login_wall',
    html: page(
      'Sign in · Example',
      '<h1>Sign in</h1><form><label>User name</label><input name="user"><input type="password" name="p"></form><a href="/f">Forgot password?</a><p>New here? Create an account.</p>',
    ),
  },
  'a German login': {
    wall: 'login_wall',
    html: page(
      'Anmelden | Beispiel',
      '<form><input type="password"></form><p>Passwort vergessen? Noch kein Konto?</p>',
    ),
  },
  'a question about cookies': {
    wall: 'cookie_wall',
    html: page(
      'Before you continue to Videos',
      '<h1>Before you continue to Videos</h1><p>We use cookies and data to deliver and maintain our services, track outages and measure audience engagement.</p><button>Reject all</button><p>If you choose to “Accept all”, we will also use cookies and data to develop new services.</p>',
    ),
  },
  'a privacy gate': {
    wall: 'cookie_wall',
    html: page('News Privacy Gate', '<p>We and our 150 partners use cookies. Accept all</p>'),
  },
  'a missing page': {
    wall: 'error_page',
    html: page(
      'Page not found - Example News',
      '<h1>Page not found</h1><p>The page you are looking for may have been moved or deleted. Go to the homepage or search our archive.</p>',
    ),
  },
  'a missing page under its site’s name': {
    wall: 'error_page',
    html: page('Example News', '<main><h1>404</h1><p>Sorry, the page does not exist.</p></main>'),
  },
  'a missing page in Russian': {
    wall: 'error_page',
    html: page('Страница не найдена', '<p>Такой страницы нет.</p>'),
  },
  'a gateway': {
    wall: 'error_page',
    html: page('502 Bad Gateway', '<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>'),
  },
  'a database that is away': {
    wall: 'error_page',
    html: page('Database Error', '<h1>Error establishing a database connection</h1>'),
  },
  'a shell': {
    wall: 'needs_script',
    html: page('Example', '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'),
  },
};

/** Pages about all that, and thin ones, which are pages. */
export const realPages: Record<string, string> = {
  'an article about captchas': page(
    'Are you a robot? The history of the CAPTCHA',
    `<article><h1>Are you a robot? The history of the CAPTCHA</h1>${'<p>Everybody has met the box that says “I’m not a robot” and asks them to verify they are human. It was invented when automated requests flooded free mail services, and it has changed its form many times since: distorted letters, pictures of buses, a box to tick, and at last nothing that can be seen.</p>'.repeat(6)}</article>`,
  ),
  'a short note on a captcha': page(
    'A captcha that asks for tulips',
    '<article><h1>A captcha that asks for tulips</h1><p>Today a web shop wanted me to prove that I’m not a robot by marking all tulips. Three of the nine pictures were lilies. I passed all the same, which says something about either my botany or their model.</p></article>',
  ),
  'a note on an error': page(
    'Fixing “502 Bad Gateway” behind a proxy',
    '<article><h1>Fixing “502 Bad Gateway” behind a proxy</h1><p>The upstream closed its kept connections after five seconds and the proxy after sixty, so now and then a request met a closed socket. Make the upstream wait longer than the proxy and the error is gone.</p></article>',
  ),
  'a note on logging in': page(
    'Sign in with a passkey: what we learned',
    '<article><h1>Sign in with a passkey: what we learned</h1><p>We let people sign in without a password for a month. Most never looked back; those who did had lost their phone. Forgotten passwords fell to a tenth.</p><form><input type="password"></form></article>',
  ),
  'a news item on cookies': page(
    'Court rules on cookie consent',
    '<article><h1>Court rules on cookie consent</h1><p>Sites must make it as easy to reject all cookies as to accept all of them, the court held on Tuesday. Publishers had argued that a second click was no burden. We use cookies, said one, because readers do not pay.</p></article>',
  ),
  'a thin page with a captcha in its form': page(
    'Contact',
    '<h1>Contact</h1><p>Write to us, we answer within a day.</p><form><div class="g-recaptcha"></div></form>',
  ),
  'a note on a limit': page(
    'Whoa there, pardner: limits on requests',
    '<article><h1>Whoa there, pardner: limits on requests</h1><p>A script of ours was slowed down last week, and the answer began with these words. Since then it waits two seconds between any two requests, and says in its user agent who runs it.</p></article>',
  ),
  'a manual’s page on logging in': page(
    'Log in to the catalogue',
    '<article><h1>Log in to the catalogue</h1><p>Choose “Card” in the menu and type the number on the back. The first password is your date of birth; change it on the first day. The catalogue then shows your loans, your orders and the day by which each book is expected back.</p></article>',
  ),
  'a very short page': page('Opening hours', '<p>Open from nine to five, closed on Mondays.</p>'),
};
