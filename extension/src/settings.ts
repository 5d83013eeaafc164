/**
 * The user's settings, in `storage.local` for content scripts. Parsed on reading, since older versions or imported
 * files may have written them. Only the background program writes.
 */
import * as z from 'zod/mini';
import { defaultActiveSeconds, defaultScrollShare } from './capture/reading-rule.ts';
import { engineNames } from './engines/engines.ts';
import { defaultKinds } from './rules/default-sites.ts';

/** Maximum number of sites in a list or settings file. */
const maxSites = 10_000;

const siteName = z.string().check(z.minLength(1), z.maxLength(253));
export const siteSwitch = z.enum(['on', 'off']);
export type SiteSwitch = z.infer<typeof siteSwitch>;

export const settings = z.strictObject({
  /** Active reading time, s. */
  activeSeconds: z._default(z.int().check(z.minimum(1), z.maximum(600)), defaultActiveSeconds),
  /** Scrolled share of the page, 0 to 1. */
  scrollShare: z._default(z.number().check(z.minimum(0.1), z.maximum(1)), defaultScrollShare),
  /** Maximum megabytes of waiting page text. */
  queueMegabytes: z._default(z.int().check(z.minimum(1), z.maximum(2000)), 200),
  onlyAllowed: z._default(z.boolean(), false),
  /** Sites, with subdomains, and whether they are captured. */
  sites: z._default(
    z.record(siteName, siteSwitch).check(z.refine((sites) => Object.keys(sites).length <= maxSites)),
    {},
  ),
  /** Enabled kinds of the built-in list. */
  defaultKinds: z._default(z.array(z.enum(defaultKinds)), [...defaultKinds]),
  /** Search engines that show own matches. */
  engines: z._default(z.array(z.enum(engineNames)), []),
  /** Ms since the epoch; `forever` until resumed. */
  pausedUntil: z._default(z.nullable(z.union([z.int(), z.literal('forever')])), null),
});
export type Settings = z.infer<typeof settings>;

export const defaultSettings: Settings = settings.parse({});

export const isPaused = ({ pausedUntil }: Pick<Settings, 'pausedUntil'>, now: number): boolean =>
  pausedUntil === 'forever' || (pausedUntil !== null && pausedUntil > now);

/** Each field is parsed on its own, so that an invalid value does not reset the others. */
export async function readSettings(): Promise<Settings> {
  const { settings: kept } = await chrome.storage.local.get<{ settings?: Record<string, unknown> }>('settings');
  const valid = Object.entries(settings.shape).filter(([name, field]) => field.safeParse(kept?.[name]).success);
  return settings.parse(Object.fromEntries(valid.map(([name]) => [name, kept?.[name]])));
}

export async function changeSettings(change: Partial<Settings>): Promise<Settings> {
  return navigator.locks.request('settings', async () => {
    const changed = settings.parse({ ...(await readSettings()), ...change });
    await chrome.storage.local.set({ settings: changed });
    return changed;
  });
}

/** Switch a site on or off; null restores the other rules. */
export async function switchSite(site: string, to: SiteSwitch | null): Promise<Settings> {
  return navigator.locks.request('settings', async () => {
    const present = await readSettings();
    const { [site]: _, ...others } = present.sites;
    const changed = settings.parse({ ...present, sites: to === null ? others : { ...others, [site]: to } });
    await chrome.storage.local.set({ settings: changed });
    return changed;
  });
}
