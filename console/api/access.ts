/** Bodies of one-time codes and imports, as the service answers them. */

export interface OneTimeCode {
  code: string;
  purpose: 'session' | 'pair';
  expires_at: string;
  url: string | null;
}

export interface Import {
  id: string;
  name: string;
  format: string | null;
  status: 'running' | 'done' | 'failed' | 'stopped';
  bytes: number;
  items: number;
  created: number;
  revisits: number;
  skipped: { reason: string; count: number }[];
  error: string | null;
  started_at: string;
  ended_at: string | null;
}
