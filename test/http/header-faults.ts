import type { IncomingHttpHeaders } from 'node:http';

/** What may be kept, and how: everything else is no-store. */
const publicly: [path: RegExp, cacheControl: RegExp][] = [
  [/^\/oauth2\/jwks$|^\/\.well-known\/|^\/openapi\.json$|^\/docs\/api$/, /^public, max-age=\d{1,4}$/],
  [/^\/assets\//, /^public, max-age=31536000, immutable$/],
];

export interface Seen {
  what: string;
  path: string;
  status: number;
  header(name: string): string | undefined;
  setCookies: string[];
  text: string;
  /** It belongs to a pending request with `display=popup`. */
  popup?: boolean;
}

/** Reads a header of an answer that Node gave. */
export const headerOf = (headers: IncomingHttpHeaders) => (name: string) => {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
};

/** Every way in which an answer falls short; none is the aim. */
export function faultsOf(
  { what, path, status, header, setCookies, text, popup = false }: Seen,
  https: boolean,
): string[] {
  const faults: string[] = [];
  const expectTo = (holds: boolean, fault: string) => holds || faults.push(`${what} → ${status}: ${fault}`);
  const is = (name: string, value: string) => expectTo(header(name) === value, `${name} is ${header(name)}`);
  is('x-content-type-options', 'nosniff');
  is('referrer-policy', 'same-origin');
  is('cross-origin-opener-policy', popup ? 'unsafe-none' : 'same-origin');
  is('cross-origin-resource-policy', 'same-origin');
  is('x-frame-options', 'DENY');
  for (const feature of ['camera', 'microphone', 'geolocation', 'payment', 'usb'])
    expectTo(header('permissions-policy')?.includes(`${feature}=()`) === true, `${feature} is allowed`);
  const hsts = /^max-age=(\d+)/.exec(header('strict-transport-security') ?? '');
  if (https) expectTo(Number(hsts?.[1]) >= 31_536_000, 'no HSTS of a year or more');
  else expectTo(hsts === null, 'HSTS without https');
  for (const name of ['x-powered-by', 'server', 'via', 'x-aspnet-version'])
    expectTo(header(name) === undefined, `${name} tells what runs here`);

  const [, keeping] = publicly.find(([pattern]) => pattern.test(path)) ?? [];
  const cacheControl = header('cache-control') ?? '';
  if (keeping && status === 200) expectTo(keeping.test(cacheControl), `cache-control is ${cacheControl}`);
  else expectTo(/\bno-store\b/.test(cacheControl), `cache-control is ${cacheControl}`);

  const policy = header('content-security-policy') ?? '';
  expectTo(/default-src 'none'/.test(policy), `policy is ${policy}`);
  expectTo(/frame-ancestors 'none'/.test(policy) && /base-uri 'none'/.test(policy), `policy is ${policy}`);
  expectTo(
    !/unsafe-|\*|data:|\s(?:https?|blob):(?=[\s;]|$)/.test(policy.replace(/img-src [^;]*/, '')),
    `policy is ${policy}`,
  );
  if (/^text\/html/.test(header('content-type') ?? '') && (status < 300 || status >= 400) && text !== '') {
    const nonce = /script-src 'nonce-([^']{22,})'/.exec(policy)?.[1];
    // A page that caches keep has no scripts: its nonce would be used again.
    if (keeping && status === 200) expectTo(/script-src 'none'/.test(policy), `a kept page with scripts: ${policy}`);
    else expectTo(nonce !== undefined, `a page without a nonce: ${policy}`);
    for (const [tag] of text.matchAll(/<script\b[^>]*>/g))
      expectTo(tag.includes(`nonce="${nonce}"`), `${tag} lacks the nonce`);
    expectTo(!/<[^>]+\s(style|on[a-z]+)=/.test(text), 'inline style or handler, which the policy forbids');
  }
  for (const line of setCookies) {
    expectTo(/; HttpOnly/i.test(line) && /; SameSite=Lax/i.test(line), `cookie ${line}`);
    // The library's resume cookie is bound to its path, which the prefix forbids; `.sig` belongs to its cookie.
    if (https) expectTo(/; Secure/i.test(line) && /^(__Host-|foyer_op_resume)/.test(line), `cookie ${line}`);
  }
  return faults;
}
