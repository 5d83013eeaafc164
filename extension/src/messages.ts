/** What the parts of the extension say to each other: one typed map from name to request and reply. */
import type { ImportSource, ImportState, LogEntry, QueuedItem, SendState, Totals } from './queue/database.ts';
import type { EnqueueOutcome } from './queue/queue.ts';
import type { ExclusionRule } from './rules/decide.ts';
import type { Connection } from './service/connection.ts';
import type { Settings, SiteSwitch } from './settings.ts';

/** How a page is handed in: as it is shown, or by its address, where the service reads better than the browser shows. */
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
  /** It became another page again and again, or could not be stored. */
  | { outcome: 'failed' };

/** What is known in this browser of an address. */
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
  /** The oldest of each state, and the last that were sent. */
  items: QueuedItem[];
  log: LogEntry[];
}

/** A page that a person read, as it is shown beside the results of a search engine. */
export interface OwnMatch {
  title: string;
  /** Opens it at the passage. */
  link: string;
  site: string;
  /** When it was first read, in words. */
  read: string;
  passage: string;
}

/** To the background program. */
export interface Messages {
  /** May this page be captured, and how? Asked before it is serialised. */
  mayCapture: [
    { url: string; byHand: boolean },
    { allowed: CaptureMode } | Exclude<CaptureOutcome, { outcome: EnqueueOutcome }>,
  ];
  captured: [CapturedPage, CaptureOutcome];
  /** What was read about the query of the asking tab, which shows results of a search engine; none where nothing is relevant. */
  ownMatches: [null, OwnMatch[]];
  pageState: [{ url: string }, PageState];
  /** Save the page of a tab now; the address is used where no content script can be. */
  saveTab: [{ tabId: number; url: string; title: string }, CaptureOutcome];
  queueOverview: [null, QueueOverview];
  retryItem: [{ id: number }, null];
  deleteItem: [{ id: number }, { deleted: number }];
  sendNow: [null, SendState | null];
  syncRules: [null, { synced: boolean }];
  /** Forget a page or site, at the service and here; it goes on though the popup is closed. */
  forget: [{ url: string } | { domain: string }, { pages: number } | { problem: string }];
  connection: [null, Connection | null];
  /** Null: part from the service. */
  connect: [Connection | null, null];
  /** Settings have one writer, so that a click counts though the popup is closed at once. */
  changeSettings: [Partial<Settings>, Settings];
  switchSite: [{ site: string; to: SiteSwitch | null }, Settings];
  importState: [null, ImportState | null];
  startImport: [{ sources: ImportSource[] }, ImportState];
  pauseImport: [{ paused: boolean }, ImportState | null];
}
export type MessageName = keyof Messages;
export type Request<Name extends MessageName> = Messages[Name][0];
export type Reply<Name extends MessageName> = Messages[Name][1];

/** To the content script of a tab. */
export interface TabMessages {
  captureNow: [null, CaptureOutcome];
  /**
   * `secretField`: it shows a field for a secret, or has one filled in, or is too large to tell; `outcome`: what came of the present view, once
   * it was read.
   */
  where: [null, { url: string; title: string; about: string; secretField: boolean; outcome: CaptureOutcome | null }];
}

export type Envelope = { name: string; request: unknown };

/** Ask the background program. Errors: where it cannot be reached or fails. */
export async function ask<Name extends MessageName>(name: Name, request: Request<Name>): Promise<Reply<Name>> {
  const answer: { reply: Reply<Name> } | { error: string } | undefined = await chrome.runtime.sendMessage({
    name,
    request,
  });
  if (answer === undefined) throw new Error('nobody answered');
  if ('error' in answer) throw new Error(answer.error);
  return answer.reply;
}

/** Ask the content script of a tab; null where there is none. */
export async function askTab<Name extends keyof TabMessages>(
  tabId: number,
  name: Name,
): Promise<TabMessages[Name][1] | null> {
  try {
    return (await chrome.tabs.sendMessage(tabId, { name, request: null }, { frameId: 0 })) ?? null;
  } catch {
    return null; // no content script is there: a page of the browser, or one opened before the installation
  }
}
