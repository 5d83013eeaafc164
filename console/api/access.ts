/** A one-time code, as the service answers it. */

export interface OneTimeCode {
  code: string;
  purpose: 'session' | 'pair';
  expires_at: string;
  url: string | null;
}
