/**
 * What a person chose. It lies in `storage.local`, where content scripts find it; whoever reads it gets valid values, for what is
 * stored by an older version or imported from a file is parsed here. Written by the background program alone.
 */
import * as z from 'zod/mini';
import { defaultActiveSeconds, defaultScrollShare } from './capture/reading-rule.ts';
import { engineNames } from './engines/engines.ts';
import { defaultKinds } from './rules/default-sites.ts';

/** Longest list of sites that anybody keeps by hand, and bound of what a settings file may hold. */
const maxSites = 10_000;

const siteName = z.string().check(z.minLength(1), z.maxLength(253));
export const siteSwitch = z.enum(['on', 'off']);
export type SiteSwitch = z.infer<typeof siteSwitch>;

export const settings = z.strictObject({
  /** Seconds of active reading after which a page was read. */
  activeSeconds: z._default(z.int().check(z.minimum(1), z.maximum(600)), defaultActiveSeconds),
  /** Share of the page, 0 to 1, which makes it read when it was scrolled past. */
  scrollShare: z._default(z.number().check(z.minimum(0.1), z.maximum(1)), defaultScrollShare),
  /** Megabytes of page text that wait in this browser at most. */
  queueMegabytes: z._default(z.int().check(z.minimum(1), z.maximum(2000)), 200),
  onlyAllowed: z._default(z.boolean(), false),
  /** Sites and whether they are captured; with those below them. */
  sites: z._default(
    z.record(siteName, siteSwitch).check(z.refine((sites) => Object.keys(sites).length <= maxSites)),
    {},
  ),
  /** Kinds of the built-in list that are not captured. */
  defaultKinds: z._default(z.array(z.enum(defaultKinds)), [...defaultKinds]),
  /** Search engines on whose result pages own matches are shown. */
  engines: z._default(z.array(z.enum(engineNames)), []),
  /** Ms since the epoch; `forever` until it is resumed. */
  pausedUntil: z._default(z.nullable(z.union([z.int(), z.literal('forever')])), null),
});
export type Settings = z.infer<typeof settings>;

export const defaultSettings: Settings = settings.parse({});

export const isPaused = ({ pausedUntil }: Pick<Settings, 'pausedUntil'>, now: number): boolean =>
  pausedUntil === 'forever' || (pausedUntil !== null && pausedUntil > now);

/** Each field by itself: what another version wrote takes no switch and no pause with it. */
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

/** Switch a site on or off, or, with null, leave it to the other rules. */
export async function switchSite(site: string, to: SiteSwitch | null): Promise<Settings> {
  return navigator.locks.request('settings', async () => {
    const present = await readSettings();
    const { [site]: _, ...others } = present.sites;
    const changed = settings.parse({ ...present, sites: to === null ? others : { ...others, [site]: to } });
    await chrome.storage.local.set({ settings: changed });
    return changed;
  });
}
