import { gzipSync } from 'node:zlib';
import { isRefusal, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { type Backend, backends } from '../support/stores.ts';
import { type Answer, portOf, type Sent, send } from './wire.ts';

export const form = 'application/x-www-form-urlencoded';
export const json = 'application/json';
const long = 'x'.repeat(15_000);

/** Bodies that no page of Foyer sends: every route refuses them. */
export const brokenBodies: [string, Sent][] = [
  ['JSON cut off', { headers: { 'content-type': json }, body: '{"username":' }],
  ['JSON with a comma too many', { headers: { 'content-type': json }, body: '{"a":1,}' }],
  ['JSON that is a text', { headers: { 'content-type': json }, body: '"x"' }],
  ['JSON that is a number', { headers: { 'content-type': json }, body: '1' }],
  ['JSON that is null', { headers: { 'content-type': json }, body: 'null' }],
  ['JSON with a raw control character', { headers: { 'content-type': json }, body: '{"username":"a\u0000b"}' }],
  ['JSON with broken UTF-8', { headers: { 'content-type': json }, body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22]) }],
  ['JSON of more than 16 KiB', { headers: { 'content-type': json }, body: JSON.stringify({ a: 'x'.repeat(17_000) }) }],
  ['a form of more than 16 KiB', { headers: { 'content-type': form }, body: `a=${'x'.repeat(17_000)}` }],
  ['a form with 10,000 fields', { headers: { 'content-type': form }, body: 'a&'.repeat(10_000) }],
  ['a form with 51 fields', { headers: { 'content-type': form }, body: `${'a=1&'.repeat(50)}b=1` }],
  ['a form in an unknown character set', { headers: { 'content-type': `${form}; charset=x-evil` }, body: 'a=1' }],
  ['a form packed in an unknown way', { headers: { 'content-type': form, 'content-encoding': 'x' }, body: 'a=1' }],
  [
    'a form that is not what it is packed as',
    { headers: { 'content-type': form, 'content-encoding': 'gzip' }, body: 'a=1' },
  ],
  [
    'a small pack that unpacks to megabytes',
    { headers: { 'content-type': form, 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(20_000_000, 'a')) },
  ],
  ['plain text', { headers: { 'content-type': 'text/plain' }, body: 'username=a' }],
  ['a file', { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x\r\n\r\na\r\n--x--' }],
  [
    'XML',
    { headers: { 'content-type': 'application/xml' }, body: '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>' },
  ],
  ['a type that is none', { headers: { 'content-type': 'x;;;=' }, body: 'a=1' }],
];

/** Values that no user can type into a field. */
export const oddValues: [string, string][] = [
  ['a zero byte', 'a\u0000b'],
  ['line breaks', 'a\r\nSet-Cookie: x=y'],
  ['escape sequences', '\u001b[2J\u0007'],
  ['a text turned round', '\u202eevil'],
  ['half a character', 'a\ud800'],
  ['15,000 characters', long],
  ['a prototype', '__proto__'],
  ['SQL', "' OR '1'='1'; DROP TABLE users; --"],
  ['a template', '{{7*7}}#{7*7}<%= 7*7 %>'],
  ['markup', '"><script>alert(1)</script>'],
  ['a path', '../../../../etc/passwd'],
  ['no text', '[object Object]'],
  ['nothing', ''],
];

/** The strictest available stores: PostgreSQL refuses texts that SQLite accepts. */
export const strictest = (): Backend[] => backends.slice(-1);

/** A clear error has a 4xx status and a page or document with a text. */
export const isClear = ({ status, headers, text }: Answer): boolean =>
  status >= 400 &&
  status < 500 &&
  (String(headers['content-type']).includes('json')
    ? /"(title|error)":/.test(text)
    : /<h1|name="password"|^[A-Z][\w ]+$/.test(text));

export const shown = ({ status, text }: Answer): string => `${status} ${text.slice(0, 80)}`;

/** A Foyer with a signed-in browser, whose authorization request waits for consent, and a client app with tokens. */
export interface Scene {
  foyer: TestFoyer;
  app: RelyingParty;
  port: number;
  host: string;
  cookie: string;
  /** The id of the pending authorization request. */
  waiting: string;
  tokens: { access_token: string; refresh_token?: string };
  /** The Authorization header of the client app. */
  basic: string;
  /** Sends a request as a page of Foyer does in that browser. */
  post(path: string, sent: Sent, method?: string): Promise<Answer>;
  /** The rows and keys that a half-finished request could leave behind. */
  stored(): Promise<string>;
}

export async function openScene(backend: Backend): Promise<Scene> {
  const foyer = await startFoyer(
    backend,
    { GUESS_LIMIT_ADDRESS: '100000', GUESS_LIMIT_OVERALL: '100000' },
    { passwords: { hash: async () => '', verify: async (_hash, given) => given === password } },
  );
  const port = portOf(foyer.url);
  const host = new URL(foyer.url).host;
  const client = await foyer.addClient({ thirdParty: true });
  const app = await relyingParty(foyer, client);
  const browser = foyer.browser();
  const begun = await app.begin();
  const user = await foyer.addUser({ email: 'scene@example.com' });
  const tokens = await app.redeem(await signInFor(browser, begun, user), begun);
  // The browser has also started a password reset.
  await browser.post('/forgot-password', { username: user.email });
  const at = locationOf(await browser.get((await app.begin({ prompt: 'consent' })).url));
  const cookie = await browser.jar.getCookieString(foyer.url);
  const ours = { host, cookie, origin: foyer.url, 'sec-fetch-site': 'same-origin', accept: 'text/html' };
  return {
    foyer,
    app,
    port,
    host,
    cookie,
    tokens,
    waiting: new URL(at).searchParams.get('authorization_code') ?? '',
    basic: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    async post(path, sent, method = 'POST') {
      const answer = await send(port, path, { method, ...sent, headers: { ...ours, ...sent.headers } });
      if (!isRefusal(answer.status, answer.setCookies)) return answer;
      // The page that shows the refused form is the answer.
      const given = answer.setCookies.map((line) => line.split(';', 1)[0]);
      const shown = { ...ours, cookie: [cookie, ...given].join('; ') };
      return send(port, answer.headers.location ?? '', { headers: shown });
    },
    async stored() {
      const { db } = foyer.stores.database;
      const users = await db.selectFrom('users').selectAll().orderBy('id').execute();
      const oidc = await db.selectFrom('oidc').select(['model', 'consumedAt']).execute();
      return JSON.stringify([users, oidc.length, oidc.filter((row) => row.consumedAt !== null).length]);
    },
  };
}
