const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface RedirectUriKind {
  native: boolean;
  /** Allows plain http on this machine. */
  development: boolean;
}

interface RedirectUri extends RedirectUriKind {
  text: string;
  url: URL;
  /** It is an address of the machine on which the browser runs. */
  isLocal: boolean;
}

interface Rule {
  refuses(uri: RedirectUri): boolean;
  fault: string;
}

/** RFC 8252, section 7.1: a private-use scheme is a reversed domain name, so it contains a dot. */
const isPrivateScheme = (protocol: string) => /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol);

const isWebScheme = (protocol: string) => protocol === 'https:' || protocol === 'http:';

/** The first rule that refuses an address names its fault. */
const rules: readonly Rule[] = [
  { refuses: ({ text }) => /[\s\\]/.test(text), fault: 'is not an absolute address' },
  { refuses: ({ text, url }) => url.hash !== '' || text.includes('#'), fault: 'must not have a fragment' },
  { refuses: ({ url }) => url.username !== '' || url.password !== '', fault: 'must not name a user' },
  { refuses: ({ text }) => text.includes('*'), fault: 'must not have a wildcard: addresses are compared exactly' },
  {
    // RFC 8252, section 7.2: a native app must have claimed its https address, which is impossible for localhost.
    refuses: ({ url, isLocal, native }) => url.protocol === 'https:' && native && isLocal,
    fault: 'must be http on a loopback address',
  },
  {
    refuses: ({ url, isLocal, native, development }) =>
      url.protocol === 'http:' && !(isLocal && (native || development)),
    fault: 'must begin with https://',
  },
  {
    refuses: ({ url, native }) => !isWebScheme(url.protocol) && !native,
    fault: 'must begin with https://; an app on a device registers another scheme with --native',
  },
  {
    refuses: ({ url }) => !isWebScheme(url.protocol) && !isPrivateScheme(url.protocol),
    fault: 'must be https, http on a loopback address, or a private scheme as in com.example.app:/callback',
  },
];

/** The fault of a redirect address, or undefined. */
export function findRedirectUriFault(text: string, kind: RedirectUriKind): string | undefined {
  const url = URL.parse(text);
  if (!url) return 'is not an absolute address';
  const uri = { ...kind, text, url, isLocal: loopback.has(url.hostname) };
  return rules.find(({ refuses }) => refuses(uri))?.fault;
}
