import { safeReturnUrl } from '../../server/http/continuation.ts';

const site = 'https://login.example.com';

describe('safeReturnUrl', () => {
  it.each([
    ['/', '/'],
    ['/settings', '/settings'],
    ['/settings?a=b&c=%26#there', '/settings?a=b&c=%26#there'],
    ['settings', '/settings'],
    ['?a=b', '/?a=b'],
    [`${site}/settings`, '/settings'],
    ['HTTPS://LOGIN.EXAMPLE.COM/settings', '/settings'],
    [`${site}:443/settings`, '/settings'],
    ['/plan-purchase/../settings', '/settings'],
    ['/logouts', '/logouts'],
    ['/oauth2x', '/oauth2x'],
    ['/a?redirect=/logout', '/a?redirect=/logout'],
    // Another site's address as a mere query is none that the browser is sent to.
    ['/a?next=https://evil.example', '/a?next=https://evil.example'],
  ])('The address %j is accepted and becomes an absolute address', (redirect, path) => {
    expect(safeReturnUrl(redirect, site)).toBe(`${site}${path}`);
  });

  it('A backslash ends the host, as in browsers', () => {
    expect(safeReturnUrl('//login.example.com\\.evil.example/', site)).toBe(`${site}/.evil.example/`);
  });

  it('A path that looks like another site gets scheme and host in front', () => {
    // Sent as a path alone, a browser would read `//evil.example` as a host.
    expect(safeReturnUrl('/.//evil.example', site)).toBe(`${site}//evil.example`);
    expect(safeReturnUrl('/%2e//evil.example', site)).toBe(`${site}//evil.example`);
  });

  it.each([
    ['nothing', undefined],
    ['nothing', ''],
    ['not a text', ['/a', '/b']],
    ['not a text', { href: '/a' }],
    ['another site', 'https://evil.example'],
    ['another site', 'https://evil.example/'],
    ['another site', '//evil.example'],
    ['another site', '///evil.example'],
    ['another site', '////evil.example'],
    ['another site', '/\\evil.example'],
    ['another site', '\\\\evil.example'],
    ['another site', '\\/evil.example'],
    ['another site', '/\t/evil.example'],
    ['another site', '/\n/evil.example'],
    ['another site', '\t//evil.example'],
    ['another site', ' //evil.example'],
    ['another site', '\u0000//evil.example'],
    ['another site', 'https:evil.example'.replace('https:', 'http:')],
    ['another site', 'https:/\\evil.example'],
    ['another site', 'https://login.example.com.evil.example/'],
    ['another site', 'https://login.example.com@evil.example/'],
    ['another site', 'https://login.example.com%2f@evil.example/'],
    ['another site', 'https://evil.example\\@login.example.com/'],
    ['another site', 'https://evil.example#@login.example.com/'],
    ['another site', 'https://evil.example?@login.example.com/'],
    ['another site', 'https://login。example.com.evil.example'],
    ['a sibling', 'https://shop.example.com/'],
    ['the parent', 'https://example.com/'],
    ['a rooted name', 'https://login.example.com./'],
    ['another scheme', 'http://login.example.com/'],
    ['another scheme', 'ftp://login.example.com/'],
    ['another scheme', 'javascript:alert(1)'],
    ['another scheme', 'java\tscript:alert(1)'],
    ['another scheme', 'JavaScript:alert(document.domain)//https://login.example.com/'],
    ['another scheme', 'data:text/html,x'],
    ['another scheme', 'blob:https://login.example.com/0b9ea8fb-9d6b-4a6b-9c62-d1a5e6b0f4f8'],
    ['another scheme', 'blob:/x'],
    ['another scheme', 'view-source:https://login.example.com/'],
    ['another scheme', 'filesystem:https://login.example.com/temporary/x'],
    ['another scheme', 'about:blank'],
    ['another scheme', 'mailto:a@login.example.com'],
    ['another port', 'https://login.example.com:8443/'],
    ['another port', 'https://login.example.com:80/'],
    ['a user', 'https://user@login.example.com/'],
    ['a password', 'https://:secret@login.example.com/'],
    ['a user that looks like this site', 'https://login.example.com:443@login.example.com/'],
    ['an impossible port', 'https://login.example.com:99999/'],
    ['an impossible host', 'https://[::1'],
    ['broken encoding', '/%E0%A4%A'],
    ['broken encoding', '/%'],
    ['an encoded path, as no page of ours has', '/%73ettings'],
    ['an encoded slash', '/%2f/evil.example'],
    ['a path parameter', '/settings;jsessionid=1'],
    ['too long', `/${'a'.repeat(2_000)}`],
    ['too long once it is encoded', `/${'ü'.repeat(1_500)}`],
  ])('An address with %s is refused: %j', (_why, redirect) => {
    expect(safeReturnUrl(redirect, site)).toBeUndefined();
  });

  it.each(['/logout', '/storage', '/sign-in', '/oauth2/authorize?client_id=x', '/oauth2/logout', '/oauth2'])(
    'No spelling of %s is accepted',
    (path) => {
      const [name = '', query = ''] = path.split('?');
      const first = name.charAt(1);
      const spelt = [
        path,
        `${site}${path}`,
        name.toUpperCase(),
        `${name}/`,
        `/x/..${path}`,
        `/x/%2e%2E${path}`,
        `/./${path.slice(1)}`,
        `/.${'/'.repeat(3)}${path.slice(1)}`,
        `/%${first.charCodeAt(0).toString(16)}${name.slice(2)}?${query}`,
        `/%${first.charCodeAt(0).toString(16).toUpperCase()}${name.slice(2)}`,
        `${name}%2f`,
        `/x/%2e%2e%2f${path.slice(1)}`,
        `/.%2f${path.slice(1)}`,
        `/%2f${path.slice(1)}`,
        `/%5c..%5c${path.slice(1)}`,
        `\\${path.slice(1)}`,
        `${name}%00`,
        `${name}%20`,
        `${name};x=y`,
        ` ${path}`,
        `${name.slice(0, 3)}\t${name.slice(3)}`,
        `/%25${first.charCodeAt(0).toString(16)}${name.slice(2)}`,
        `/%2525${first.charCodeAt(0).toString(16)}${name.slice(2)}`,
      ];
      expect(spelt.filter((address) => safeReturnUrl(address, site) !== undefined)).toEqual([]);
    },
  );
});
