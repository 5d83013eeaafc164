/** The address of what a tab shows, by which views are told apart. Pure. */

/** Without user name and password, and without a fragment, but for those that are addresses of their own (`#!`, `#/`). */
export function pageAddress(href: string): string {
  const url = new URL(href);
  url.username = '';
  url.password = '';
  if (!/^#[!/]/.test(url.hash)) url.hash = '';
  return url.href;
}
