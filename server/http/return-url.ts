/** Longer than any address of this site with a pending request in it. */
const maxCharacters = 2_000;
const neverReturnTo = /^\/+(?:logout|storage|sign-in|oauth2)(?:\/|$)/;
/** Addresses of this site never contain these. A proxy that decodes them a second time might see another path. */
const notOurs = /[%;]/;

/**
 * A `redirect` parameter as an absolute address of this site, or undefined when it is not one (`security.md`, rule 10).
 * The parsed `href` is returned, never the text: `/.//evil.example` has our origin but the path `//evil.example`.
 */
export function safeReturnUrl(redirect: unknown, publicUrl: string): string | undefined {
  if (typeof redirect !== 'string' || redirect === '' || redirect.length > maxCharacters) return undefined;
  const url = URL.parse(redirect, publicUrl);
  const site = new URL(publicUrl);
  // A `blob:` address has the origin of the site that made it; only its scheme differs.
  if (!url || url.origin !== site.origin || url.protocol !== site.protocol) return undefined;
  if (url.username !== '' || url.password !== '' || url.href.length > maxCharacters) return undefined;
  if (notOurs.test(url.pathname) || neverReturnTo.test(url.pathname.toLowerCase())) return undefined;
  return url.href;
}
