/** The built-in list of unwanted sites by kind. Options disable each kind. */
import { domainMatches } from '../../../src/compute/web/domain-match.ts';

export const defaultKinds = ['bank', 'mail', 'health', 'adult', 'sign_in'] as const;
export type DefaultKind = (typeof defaultKinds)[number];

interface Listed {
  /** Including subdomains. */
  domains: readonly string[];
  /** Complete host labels before the last two. */
  labels: readonly string[];
  path?: RegExp;
}

/** The largest of each kind; labels and paths match others. */
const listed: Record<DefaultKind, Listed> = {
  bank: {
    domains: [
      ...['paypal.com', 'wise.com', 'revolut.com', 'n26.com', 'klarna.com', 'stripe.com', 'venmo.com', 'cash.app'],
      ...['chase.com', 'bankofamerica.com', 'wellsfargo.com', 'citi.com', 'capitalone.com', 'usbank.com', 'schwab.com'],
      ...[
        'fidelity.com',
        'vanguard.com',
        'americanexpress.com',
        'hsbc.com',
        'hsbc.co.uk',
        'barclays.co.uk',
        'monzo.com',
      ],
      ...[
        'lloydsbank.com',
        'natwest.com',
        'santander.co.uk',
        'santander.com',
        'sparkasse.de',
        'deutsche-bank.de',
        'ing.de',
      ],
      ...['commerzbank.de', 'comdirect.de', 'dkb.de', 'postbank.de', 'volksbank.de', 'raiffeisen.at', 'raiffeisen.ch'],
      ...['ubs.com', 'postfinance.ch', 'bnpparibas.net', 'credit-agricole.fr', 'ing.nl', 'rabobank.nl', 'coinbase.com'],
    ],
    labels: ['bank', 'banking', 'ebanking', 'onlinebanking', 'netbanking', 'brokerage'],
  },
  mail: {
    domains: [
      ...['mail.google.com', 'outlook.live.com', 'outlook.office.com', 'outlook.office365.com', 'mail.yahoo.com'],
      ...[
        'mail.proton.me',
        'app.fastmail.com',
        'mail.zoho.com',
        'icloud.com',
        'gmx.net',
        'navigator.gmx.net',
        'mail.aol.com',
      ],
      ...['app.tuta.com', 'mail.tutanota.com', 'messages.google.com', 'web.whatsapp.com', 'web.telegram.org'],
    ],
    labels: ['mail', 'webmail', 'email', 'roundcube', 'owa', 'inbox'],
  },
  health: {
    domains: [
      ...[
        'mychart.org',
        'followmyhealth.com',
        'athenahealth.com',
        'zocdoc.com',
        'doctolib.de',
        'doctolib.fr',
        'betterhelp.com',
      ],
      ...['healthcare.gov', '23andme.com', 'kaiserpermanente.org', 'teladoc.com', 'tk.de', 'barmer.de', 'aok.de'],
    ],
    labels: ['mychart', 'patient', 'patients', 'patientportal', 'myhealth'],
  },
  adult: {
    domains: [
      ...[
        'pornhub.com',
        'xvideos.com',
        'xnxx.com',
        'xhamster.com',
        'redtube.com',
        'youporn.com',
        'onlyfans.com',
        'chaturbate.com',
      ],
      ...['stripchat.com', 'spankbang.com', 'xxx', 'porn', 'adult', 'sex'],
    ],
    labels: ['porn', 'xxx'],
  },
  sign_in: {
    domains: [
      'accounts.google.com',
      'login.microsoftonline.com',
      'login.live.com',
      'appleid.apple.com',
      'id.apple.com',
    ],
    labels: ['login', 'signin', 'sso', 'auth', 'accounts', 'oauth', 'idp'],
    path: /\/(?:log-?in|sign-?in|log-?on|sign-?up|register|oauth2?|saml2?|sso|auth|password|reset-password|2fa|mfa|checkout)(?:[/.;]|$)/i,
  },
};

/** The kind that matches an address; null for none of `kinds`. */
export function defaultKindOf({ hostname, pathname }: URL, kinds: readonly DefaultKind[]): DefaultKind | null {
  const labels = hostname.split('.').slice(0, -2);
  const isOf = (kind: DefaultKind) => {
    const { domains, labels: telling, path } = listed[kind];
    return (
      domains.some((domain) => domainMatches(hostname, domain)) ||
      labels.some((label) => telling.includes(label)) ||
      path?.test(pathname) === true
    );
  };
  return kinds.find(isOf) ?? null;
}
