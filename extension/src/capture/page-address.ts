/** The address that identifies a view. Pure. */

/** Without user name, password and fragment, except routing fragments (`#!`, `#/`). */
export function pageAddress(href: string): string {
  const url = new URL(href);
  url.username = '';
  url.password = '';
  if (!/^#[!/]/.test(url.hash)) url.hash = '';
  return url.href;
}
