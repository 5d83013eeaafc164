/** The Chromium of the machine, and how every test and command starts it. */
import { existsSync } from 'node:fs';

/** Chromium without its own interface: pages take half of the processor time. Some systems have it as a package of its own. */
const shell = ['/usr/bin/chromium-headless-shell'].find(existsSync);
const found = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Where it is; a path where it is not, if there is none. */
export const chromiumPath = found ?? '/usr/bin/chromium';
/** What draws pages in tests that need no extension. */
export const pageBrowserPath = shell ?? chromiumPath;
/** Why tests that need it are skipped; false where it is there. */
export const skipChromium = found === undefined ? 'no Chromium is installed' : false;

export const chromiumArgs: readonly string[] = [
  '--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run',
  '--disable-background-networking --disable-component-update --disable-sync',
].flatMap((line) => line.split(' '));
