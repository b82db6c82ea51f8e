const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The fault of a redirect address, or undefined. `development` allows plain http on this machine. */
export function findRedirectUriFault(uri: string, native: boolean, development: boolean): string | undefined {
  const url = URL.parse(uri);
  if (!url || /[\s\\]/.test(uri)) return 'is not an absolute address';
  if (url.hash !== '' || uri.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not name a user';
  if (uri.includes('*')) return 'must not have a wildcard: addresses are compared exactly';
  const local = loopback.has(url.hostname);
  // RFC 8252, section 7.2: a native app must have claimed its https address, which is impossible for localhost.
  if (url.protocol === 'https:') return native && local ? 'must be http on a loopback address' : undefined;
  if (url.protocol === 'http:') {
    if (native && local) return undefined;
    return development && local ? undefined : 'must begin with https://';
  }
  // RFC 8252, section 7.1: a private-use scheme is a reversed domain name, so it contains a dot.
  if (native && /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)) return undefined;
  return native
    ? 'must be https, http on a loopback address, or a private scheme as in com.example.app:/callback'
    : 'must begin with https://';
}
