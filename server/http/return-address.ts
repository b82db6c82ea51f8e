const neverReturnTo = /^\/(?:logout|storage|sign-in|oauth2)(?:\/|$)/;

/**
 * A `redirect` parameter as an absolute address of this site, or undefined when it is not one (`security.md`, rule 10).
 * The parsed `href` is returned, never the text: `/.//evil.example` has our origin but the path `//evil.example`.
 */
export function returnAddress(redirect: unknown, publicUrl: string): string | undefined {
  if (typeof redirect !== 'string' || redirect === '' || redirect.length > 2_000) return undefined;
  const url = URL.parse(redirect, publicUrl);
  if (!url || url.origin !== new URL(publicUrl).origin || url.username !== '' || url.password !== '') return undefined;
  // Case and percent-encoding are folded for the comparison only.
  let path: string;
  try {
    path = decodeURIComponent(url.pathname).toLowerCase();
  } catch {
    return undefined;
  }
  if (neverReturnTo.test(path.replace(/\/{2,}/g, '/'))) return undefined;
  return url.href;
}
