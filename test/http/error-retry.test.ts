import { rateLimits } from '../../server/http/index.ts';
import { portOf, send } from '../attacks/wire.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

const requestsAMinute = rateLimits.authorizationRequest.counters[0].max;
const device = '/oauth2/device?user_code=BCDF&x=%22%3E';
const asPage = { accept: 'text/html', 'sec-fetch-site': 'none' };

/** The buttons of an error page that are links, with their addresses. */
const links = (html: string): [string, string][] =>
  [...html.matchAll(/<a class="button[^"]*" href="([^"]*)"[^>]*>([^<]*)</g)].map(([, href = '', label = '']) => [
    label,
    href.replaceAll('&amp;', '&').replaceAll('&quot;', '"'),
  ]);

describe('the button of an error page', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const host = () => new URL(foyer.url).host;
  /** The bytes of the address as written: a browser would correct some of them. */
  const open = (path: string, headers: Record<string, string> = {}) =>
    send(portOf(foyer.url), path, { headers: { host: host(), ...asPage, ...headers } });

  /** While every visit with a session fails. */
  async function whileFailing<Value>(act: (cookie: string) => Promise<Value>): Promise<Value> {
    const browser = await foyer.signedIn(await foyer.addUser());
    const cookie = await browser.jar.getCookieString(foyer.url);
    const { kv } = foyer.deps;
    const { get } = kv;
    kv.get = async () => {
      throw new TypeError('a fault of the code');
    };
    try {
      return await act(cookie);
    } finally {
      kv.get = get;
    }
  }

  it('A page with too many requests offers the same address again', async () => {
    await foyer.deps.kv.consumeCount('rate:authorize:127.0.0.1', 60_000, requestsAMinute);
    const answer = await open(device);
    expect([answer.status, links(answer.text)]).toEqual([429, [['Try again', device]]]);
  });

  it('A page that has failed offers the same address again', async () => {
    const address = '/settings?tab=device-data&x=%22%3E';
    const answer = await whileFailing((cookie) => open(address, { cookie }));
    expect([answer.status, links(answer.text)]).toEqual([500, [['Try again', address]]]);
  });

  it('A form that has failed is not offered again, since its act may be done', async () => {
    const answer = await whileFailing((cookie) =>
      send(portOf(foyer.url), '/settings/name', {
        method: 'POST',
        headers: {
          ...asPage,
          cookie,
          host: host(),
          origin: foyer.url,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'given_name=Vera&family_name=Fyfe',
      }),
    );
    expect([answer.status, links(answer.text)]).toEqual([500, [['Go to the start page', '/']]]);
  });

  it.each(['//evil.example/', '/\\evil.example/', '//evil.example/settings?tab=device-data'])(
    'Attack: the error page of the address %s leads to no other host',
    async (path) => {
      const answer = await whileFailing((cookie) => open(path, { cookie }));
      expect([answer.status, links(answer.text)]).toEqual([500, [['Go to the start page', '/']]]);
      // The form of the languages is sent to this site, which refuses such an address.
      expect(answer.text).not.toMatch(/href="[^"]*evil\.example/);
    },
  );
});
