/** Messages between the extension's parts: one typed map from name to request and reply. */
import type { ImportSource, ImportState, LogEntry, QueuedItem, SendState, Totals } from './queue/database.ts';
import type { EnqueueOutcome } from './queue/queue.ts';
import type { ExclusionRule } from './rules/decide.ts';
import type { Connection } from './service/connection.ts';
import type { Settings, SiteSwitch } from './settings.ts';

/** As shown; or by address, if the service reads it better than the browser shows it. */
export type CaptureMode = 'html' | 'address';

export interface CapturedPage {
  url: string;
  title: string;
  visitedAt: number;
  html: string | null;
  metadata: QueuedItem['metadata'];
  byHand: boolean;
}

export type CaptureOutcome =
  | { outcome: EnqueueOutcome }
  | { outcome: 'excluded'; rule: ExclusionRule }
  | { outcome: 'not_paired' }
  /** The page kept changing, or could not be stored. */
  | { outcome: 'failed' };

/** What this browser knows of an address. */
export interface PageState {
  paired: boolean;
  exclusion: ExclusionRule | null;
  item: Pick<QueuedItem, 'id' | 'state' | 'reason' | 'visitedAt'> | null;
  sent: LogEntry | null;
  totals: Totals;
  send: SendState;
}

export interface QueueOverview {
  totals: Totals;
  send: SendState;
  counts: Record<QueuedItem['state'], number>;
  /** The oldest of each state, and the last sent ones. */
  items: QueuedItem[];
  log: LogEntry[];
}

/** A read page for display next to an engine's results. */
export interface OwnMatch {
  title: string;
  /** Opens it at the passage. */
  link: string;
  site: string;
  /** When it was first read, formatted. */
  read: string;
  passage: string;
}

/** To the background program. */
export interface Messages {
  /** Whether and how to capture this page. Asked before serialising. */
  mayCapture: [
    { url: string; byHand: boolean },
    { allowed: CaptureMode } | Exclude<CaptureOutcome, { outcome: EnqueueOutcome }>,
  ];
  captured: [CapturedPage, CaptureOutcome];
  /** Matches for the query of the sender's result page; empty if none is relevant. */
  ownMatches: [null, OwnMatch[]];
  pageState: [{ url: string }, PageState];
  /** Save a tab's page now; by address where no content script can run. */
  saveTab: [{ tabId: number; url: string; title: string }, CaptureOutcome];
  queueOverview: [null, QueueOverview];
  retryItem: [{ id: number }, null];
  deleteItem: [{ id: number }, { deleted: number }];
  sendNow: [null, SendState | null];
  syncRules: [null, { synced: boolean }];
  /** Delete a page or block a site, at the service and here, even if the popup closes. */
  forget: [{ url: string } | { domain: string }, { pages: number } | { problem: string }];
  connection: [null, Connection | null];
  /** Null: disconnect. */
  connect: [Connection | null, null];
  /** Settings have one writer, so that a click counts even if the popup closes. */
  changeSettings: [Partial<Settings>, Settings];
  switchSite: [{ site: string; to: SiteSwitch | null }, Settings];
  importState: [null, ImportState | null];
  startImport: [{ sources: ImportSource[] }, ImportState];
  pauseImport: [{ paused: boolean }, ImportState | null];
}
export type MessageName = keyof Messages;
export type Request<Name extends MessageName> = Messages[Name][0];
export type Reply<Name extends MessageName> = Messages[Name][1];

/** To a tab's content script. */
export interface TabMessages {
  captureNow: [null, CaptureOutcome];
  /** `secretField`: a secret field is shown or filled in, or the page is too large to check; `outcome`: of the current view, once read. */
  where: [null, { url: string; title: string; about: string; secretField: boolean; outcome: CaptureOutcome | null }];
}

export type Envelope = { name: string; request: unknown };

/** Errors: the background program is unreachable or failed. */
export async function ask<Name extends MessageName>(name: Name, request: Request<Name>): Promise<Reply<Name>> {
  const answer: { reply: Reply<Name> } | { error: string } | undefined = await chrome.runtime.sendMessage({
    name,
    request,
  });
  if (answer === undefined) throw new Error('no answer');
  if ('error' in answer) throw new Error(answer.error);
  return answer.reply;
}

/** Null without a content script. */
export async function askTab<Name extends keyof TabMessages>(
  tabId: number,
  name: Name,
): Promise<TabMessages[Name][1] | null> {
  try {
    return (await chrome.tabs.sendMessage(tabId, { name, request: null }, { frameId: 0 })) ?? null;
  } catch {
    return null; // no content script: a page of the browser, or one opened before the installation
  }
}
