/** The Chromium of the machine, and how every test and command starts it. */
import { existsSync } from 'node:fs';

const found = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Where it is; a path where it is not, if there is none. */
export const chromiumPath = found ?? '/usr/bin/chromium';
/** Why tests that need it are skipped; false where it is there. */
export const skipChromium = found === undefined ? 'no Chromium is installed' : false;

export const chromiumArgs: readonly string[] = [
  '--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run',
  '--disable-background-networking --disable-component-update --disable-sync',
].flatMap((line) => line.split(' '));
