import * as oidc from 'openid-client';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import {
  type Begun,
  homeFrom,
  type RelyingParty,
  refreshOf,
  relyingParty,
  store,
  type Tokens,
} from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpUser } from './user-and-client.ts';

/** A tab with the sign-in page of the request that its client app started. */
interface Tab {
  client: RelyingParty;
  begun: Begun;
  landing: string;
}

describe.each(backends)('several tabs of one browser on $name', (backend) => {
  const context = setUpUser(backend);

  let browser: Browser;

  beforeEach(() => {
    browser = context.foyer.browser();
  });

  const newClient = async () => relyingParty(context.foyer, await context.foyer.addClient());

  async function open(client: RelyingParty): Promise<Tab> {
    const begun = await client.begin();
    return { client, begun, landing: locationOf(await browser.get(begun.url, { from: 'cross-site' })) };
  }

  /** Sends the form in the tab. @returns the address of the redirect */
  async function signIn({ landing }: Tab, member = context.user): Promise<string> {
    const fields = { username: member.email, password };
    return locationOf(await browser.post(`/sign-in${new URL(landing).search}`, fields));
  }

  const idOf = ({ landing }: Tab) => new URL(landing).searchParams.get('authorization_code') ?? '';

  /** Continues from /verify-user to the client app. */
  async function home(tab: Tab, verifyUser: string): Promise<Tokens> {
    expect(new URL(verifyUser).pathname).toBe('/verify-user');
    const callback = locationOf(await browser.get(await store(browser, verifyUser)));
    return tab.client.redeem(callback, tab.begun);
  }

  const works = async ({ client }: Tab, tokens: Tokens) => {
    await oidc.fetchUserInfo(client.config, tokens.access_token, context.user.id);
    expect((await oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).access_token).toBeTruthy();
  };

  it('Two clients in a fresh browser need one password, and the second tab continues without it', async () => {
    const [first, second] = [await open(await newClient()), await open(await newClient())];
    const firstTokens = await home(first, await signIn(first));
    const secondTokens = await home(second, locationOf(await browser.get(second.landing)));
    await works(first, firstTokens);
    await works(second, secondTokens);
  });

  it('Two clients in a fresh browser both get tokens when both open forms are sent', async () => {
    const [first, second] = [await open(await newClient()), await open(await newClient())];
    const firstTokens = await home(first, await signIn(first));
    const secondTokens = await home(second, await signIn(second));
    await works(first, firstTokens);
    await works(second, secondTokens);
  });

  it('Two clients in a fresh browser both get tokens when the second signs in while the first is not finished', async () => {
    const [first, second] = [await open(await newClient()), await open(await newClient())];
    const [firstWay, secondWay] = [await signIn(first), await signIn(second)];
    const secondTokens = await home(second, secondWay);
    const firstTokens = await home(first, firstWay);
    await works(first, firstTokens);
    await works(second, secondTokens);
  });

  it('Two clients both get tokens when the second signs in between the binding and the resuming of the first', async () => {
    const [first, second] = [await open(await newClient()), await open(await newClient())];
    const resume = await store(browser, await signIn(first));
    const secondWay = await signIn(second);
    const firstTokens = await first.client.redeem(locationOf(await browser.get(resume)), first.begun);
    const secondTokens = await home(second, secondWay);
    await works(first, firstTokens);
    await works(second, secondTokens);
  });

  it('Two clients both get tokens when both requests resume at the same moment', async () => {
    const [first, second] = [await open(await newClient()), await open(await newClient())];
    const way = await signIn(first);
    const other = locationOf(await browser.get(second.landing));
    const resumes = [await store(browser, way), await store(browser, other)];
    const [one, two] = await Promise.all(resumes.map((resume) => browser.get(resume)));
    await works(first, await first.client.redeem(locationOf(one as Response), first.begun));
    await works(second, await second.client.redeem(locationOf(two as Response), second.begun));
  });

  it('Three tabs of one client all get tokens, and none revokes those of another', async () => {
    const client = await newClient();
    const tabs = [await open(client), await open(client), await open(client)];
    const got: Tokens[] = [];
    for (const tab of tabs) got.push(await home(tab, await signIn(tab)));
    expect(new Set(got.map((tokens) => tokens.access_token)).size).toBe(3);
    for (const [index, tab] of tabs.entries()) await works(tab, got[index] as Tokens);
  });

  it('Eight requests of one client at the same moment all get tokens', async () => {
    const client = await newClient();
    const first = await open(client);
    await home(first, await signIn(first));
    const begun = await Promise.all(Array.from({ length: 8 }, () => client.begin()));
    const answers = await Promise.all(begun.map(({ url }) => browser.get(url, { from: 'cross-site' })));
    const got = await Promise.all(
      answers.map((answer, index) => client.redeem(locationOf(answer), begun[index] as Begun)),
    );
    for (const tokens of got) await works(first, tokens);
  });

  it('Eight clients that a user uses for the first time at the same moment all keep their tokens', async () => {
    browser = await context.foyer.signedIn(context.user);
    const clients = await Promise.all(Array.from({ length: 8 }, newClient));
    const begun = await Promise.all(clients.map((client) => client.begin()));
    const answers = await Promise.all(begun.map(({ url }) => browser.get(url, { from: 'cross-site' })));
    for (const [index, client] of clients.entries()) {
      const tab = { client, begun: begun[index] as Begun, landing: '' };
      await works(tab, await client.redeem(locationOf(answers[index] as Response), tab.begun));
    }
  });

  it('A request resumed after another user signed in gets an error page and can start again as that user', async () => {
    const other = await context.foyer.addUser();
    const [first, second] = [await open(await newClient()), await open(await newClient())];
    const resume = await store(browser, await signIn(first));
    const otherTokens = await home(second, await signIn(second, other));
    const stopped = await browser.get(resume);
    expect(stopped.status).toBe(400);
    const page = await stopped.text();
    expect(page).toMatch(/expired/i);
    const again = `/begin-again?authorization_code=${idOf(first)}`;
    expect(page).toContain(`href="${again}"`);
    const callback = await homeFrom(browser, new URL(again, context.foyer.url).href, other);
    expect((await first.client.redeem(callback, first.begun)).claims()?.sub).toBe(other.id);
    expect(otherTokens.claims()?.sub).toBe(other.id);
  });

  it('A request resumed after a sign-out returns to its sign-in page, which accepts the password again', async () => {
    const tab = await open(await newClient());
    const resume = await store(browser, await signIn(tab));
    await browser.post('/logout');
    const asked = new URL(locationOf(await browser.get(resume)));
    expect([asked.pathname, asked.searchParams.get('authorization_code')]).toEqual(['/', idOf(tab)]);
    expect((await browser.get(asked.href)).status).toBe(200);
    expect((await browser.get(tab.landing)).status).toBe(200);
    await works(tab, await home(tab, await signIn(tab)));
  });

  it('A browser keeps twelve requests, and older ones get the page of an expired request', async () => {
    const client = await newClient();
    const tabs: Tab[] = [];
    for (let index = 0; index < 14; index += 1) {
      context.foyer.passTime(1);
      tabs.push(await open(client));
    }
    const way = await signIn(tabs.at(-1) as Tab);
    await home(tabs.at(-1) as Tab, way);
    for (const [index, tab] of tabs.slice(0, -1).entries()) {
      const answer = await browser.get(tab.landing);
      expect(answer.status).toBe(index < 2 ? 400 : 303);
    }
  });

  describe('the back button after a sign-in', () => {
    let tab: Tab;
    let resume: string;
    beforeEach(async () => {
      tab = await open(await newClient());
      resume = await store(browser, await signIn(tab));
      await tab.client.redeem(locationOf(await browser.get(resume)), tab.begun);
    });

    it('Returning to the client’s authorization request gives a new code', async () => {
      const callback = locationOf(await browser.get(tab.begun.url, { from: 'cross-site' }));
      expect((await tab.client.redeem(callback, tab.begun)).claims()?.sub).toBe(context.user.id);
    });

    it.each([
      ['the sign-in page', () => tab.landing],
      ['/verify-user', () => tab.landing.replace('/?', '/verify-user?')],
      ['/consent', () => `/consent${new URL(tab.landing).search}`],
      ['the resume address', () => resume],
    ])('Returning to %s starts the request again and gives a new code', async (_what, address) => {
      const again = locationOf(await browser.get(address()));
      expect(new URL(again).pathname).toBe('/begin-again');
      await comesHomeAnew(again);
    });

    it('Sending the form of /storage again, with or without a script, starts the request again', async () => {
      const page = await browser.post('/storage', { authorization_code: idOf(tab) });
      await comesHomeAnew(new URL(refreshOf(await page.text()), context.foyer.url).href);
      const called = await browser.postJson('/storage', { authorization_code: idOf(tab) });
      expect([called.status, await called.json()]).toEqual([
        200,
        { status: 200, data: { location: `/begin-again?authorization_code=${idOf(tab)}` } },
      ]);
    });

    it('Sending the sign-in form again starts the request again', async () => {
      await comesHomeAnew(locationOf(await browser.get(await signIn(tab))));
    });

    it('A client that starts sign-ins itself gets a redirect to its start address', async () => {
      browser = context.foyer.browser();
      const client = await context.foyer.addClient({ logbackUri: 'http://127.0.0.1:9/start?tenant=1' });
      const own = await open(await relyingParty(context.foyer, client));
      await home(own, await signIn(own));
      const again = locationOf(await browser.get(own.landing));
      const page = await (await browser.get(again)).text();
      expect(refreshOf(page)).toBe(`http://127.0.0.1:9/start?tenant=1&iss=${encodeURIComponent(context.foyer.url)}`);
      expect(page).toContain('Client ');
    });

    async function comesHomeAnew(page: string): Promise<void> {
      const callback = await homeFrom(browser, page, context.user);
      expect((await tab.client.redeem(callback, tab.begun)).claims()?.sub).toBe(context.user.id);
    }
  });
});
