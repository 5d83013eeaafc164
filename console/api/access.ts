/** Bodies of sessions, tokens, codes and imports, as the service answers them. */
import type { Scope } from '../../src/domain/access.ts';

export interface Session {
  id: string;
  name: string;
  scopes: Scope[];
  created_at: string;
  last_used_at: string;
  expires_at: string;
  user_agent: string | null;
  current: boolean;
}

export interface Token {
  id: string;
  name: string;
  scopes: Scope[];
  source: 'settings' | 'created' | 'paired';
  origin: string | null;
  created_at: string | null;
  last_used_at: string | null;
  current: boolean;
}

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
