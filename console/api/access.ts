/** A one-time code in the service's answer. */

export interface OneTimeCode {
  code: string;
  purpose: 'session' | 'pair';
  expires_at: string;
  url: string | null;
}
