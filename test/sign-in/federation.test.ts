import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import { comeBack, comeBy, press } from './provider-steps.ts';

const inInstagram =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0';

let providers: TestProviders;
let foyer: TestFoyer;
beforeAll(async () => {
  providers = await startProviders();
  providers.write(
    'logo.svg',
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle r="9" cx="10" cy="10" /></svg>',
  );
  foyer = await startFoyer(anyBackend, {
    ...providers.environment((file) => ({
      ...file,
      amazon: { signUp: false },
      providers: [...file.providers.map((one) => ({ ...one, logo: 'logo.svg' }))],
    })),
    GUESS_LIMIT_ADDRESS: '100000',
  });
});
afterAll(async () => {
  await foyer?.close();
  await providers?.close();
});

const page = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await foyer.browser().get(path, { headers });
  return { status: answer.status, html: await answer.text() };
};
/** Every button of a page that leads to a provider, in its order. */
const ways = (html: string) =>
  [...html.matchAll(/formaction="([^"]+)"/gi)].map(([, to]) => to?.replaceAll('&amp;', '&'));
const plain = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the sign-in page', () => {
  it('Amazon and Google are above the form, Facebook below it and the others in a closed list', async () => {
    const { html } = await page('/');
    expect(ways(html)).toEqual(
      ['amazon', 'google', 'facebook', 'acme-oidc', 'acme-saml'].map((id) => `/federation/${id}`),
    );
    const order = [
      '/federation/google',
      'name="password"',
      '/federation/facebook',
      '<details',
      '/federation/acme-oidc',
    ];
    const places = order.map((what) => html.indexOf(what));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(html).toMatch(/<details class="more-provider-buttons">/);
    expect(plain(html)).toContain('Other ways to continue 2 more Show fewer');
  });

  it('The first submit button of the form is the form’s own, so Enter never presses a provider’s button', async () => {
    const { html } = await page('/');
    const [first] = html.match(/<button [^>]*form="sign-in"[^>]*>/) ?? [];
    expect(first).toContain('type="submit"');
    expect(first).not.toMatch(/formaction/i);
    expect(first).toMatch(/tabindex="-1"/i);
  });

  it('Every provider button has the visitor’s return address', async () => {
    const { html } = await page('/?redirect=%2Fsettings&state=x');
    expect(ways(html)).toHaveLength(5);
    for (const way of ways(html)) expect(way).toMatch(/\?state=x&redirect=%2Fsettings$/);
  });

  it('An embedded browser gets an explanation in place of the providers that do not work there', async () => {
    const { html } = await page('/', { 'user-agent': inInstagram });
    expect(ways(html)).toEqual(['amazon', 'acme-oidc', 'acme-saml'].map((id) => `/federation/${id}`));
    expect(plain(html)).toContain('Signing in with Google or Facebook does not work inside another app.');
    expect(plain(html)).toContain(`open ${new URL(foyer.url).host} in your browser`);
    expect(html).toMatch(/<details class="more-provider-buttons" open/);
  });

  it('The logo of a provider is served as immutable with a policy that runs no script', async () => {
    const { html } = await page('/');
    const [, src = ''] = html.match(/<img src="(\/federation\/acme-oidc\/logo[^"]+)" alt=""/) ?? [];
    const logo = await foyer.browser().get(src.replaceAll('&amp;', '&'));
    expect(logo.headers.get('content-type')).toBe('image/svg+xml');
    expect(logo.headers.get('cache-control')).toContain('immutable');
    expect(logo.headers.get('content-security-policy')).toMatch(/default-src 'none'.*sandbox/);
    expect(await logo.text()).toContain('<svg');
    expect((await foyer.browser().get('/federation/google/logo')).status).toBe(404);
  });
});

describe('the sign-up page', () => {
  it('Only providers with sign-up have a button, and no field of the form is sent with it', async () => {
    const { html } = await page('/signup');
    expect(ways(html)).toEqual(['google', 'facebook', 'acme-oidc', 'acme-saml'].map((id) => `/federation/${id}`));
    expect(html.match(/form="provider-buttons"/g)).toHaveLength(4);
    expect(html).toContain('<form id="provider-buttons" hidden="" method="post">');
  });
});

describe('the sign-up page of a plan', () => {
  it('Every provider button has the plan', async () => {
    const { html } = await page('/signup/plan/scale-monthly?redirect=%2Fsettings');
    expect(ways(html)[0]).toBe('/federation/google?redirect=%2Fsettings&planHash=scale-monthly');
  });
});

describe('a provider’s button', () => {
  it('The button leads to the provider with the entered address and needs no password', async () => {
    const browser = foyer.browser();
    const asked = await press(browser, '/federation/google', {
      username: ' Vera@Example.com ',
      password: 'not looked at',
    });
    expect(asked.origin).toBe(providers.url);
    expect(asked.searchParams.get('login_hint')).toBe('vera@example.com');
    expect(asked.searchParams.get('state')).toMatch(/^[\w-]{43}$/);
    expect(Object.keys(await browser.cookies())).toEqual(
      expect.arrayContaining([expect.stringMatching(/foyer_federation$/)]),
    );
  });

  it('A phone number is not sent to the provider', async () => {
    const asked = await press(foyer.browser(), '/federation/google', { username: '+32 470 12 34 56' });
    expect(asked.searchParams.has('login_hint')).toBe(false);
  });

  it('A fresh sign-in is requested with forceAuth or when the user is signed in already', async () => {
    const how = async (browser: Browser, path: string) => (await press(browser, path)).searchParams.get('prompt');
    expect(await how(foyer.browser(), '/federation/acme-oidc')).toBeNull();
    expect(await how(foyer.browser(), '/federation/acme-oidc?forceAuth=1')).toBe('login');
    const member = await foyer.signedIn(await foyer.addUser());
    expect(await how(member, '/federation/acme-oidc')).toBe('login');
  });

  it('The sign-in is remembered if Remember Me was checked', async () => {
    const lifetimes: (number | undefined)[] = [];
    for (const fields of [{ remember: '1' }, {}] as Record<string, string>[]) {
      const browser = foyer.browser();
      providers.answerAs(providers.people.google.ada, 'google');
      expect((await comeBy(browser, '/federation/google', fields)).status).toBe(303);
      const cookies = await browser.jar.getCookies(foyer.url);
      const session = cookies.find(({ key }) => key.endsWith('foyer_session'));
      lifetimes.push(session?.expires instanceof Date ? session.expires.getTime() : undefined);
    }
    expect(lifetimes).toEqual([expect.any(Number), undefined]);
  });

  it('A provider that is not configured gets 404', async () => {
    expect((await foyer.browser().post('/federation/okta')).status).toBe(404);
    expect((await foyer.browser().get('/federation/google')).status).toBe(405);
  });

  it('Too many attempts lead back to the page with a clear message', async () => {
    const busy = await startFoyer(anyBackend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '1' });
    try {
      const browser = busy.browser();
      await press(browser, '/federation/google?redirect=%2Fsettings');
      const refused = await browser.post('/federation/google?redirect=%2Fsettings');
      const back = refused.headers.get('location') ?? '';
      expect(back).toBe('/?redirect=%2Fsettings&notice=federation-too-many&provider=google');
      expect(plain(await (await browser.get(back)).text())).toContain('Too many attempts with Google.');
    } finally {
      await busy.close();
    }
  });
});

describe('the notice after a failed attempt', () => {
  it.each([
    ['cancelled', 'notice info', 'You came back from Google without signing in there.'],
    ['unreachable', 'notice error', 'Google is not answering right now.'],
    ['no-email', 'notice error', 'Google did not give us an email address'],
    ['offer', 'notice info', 'There is an account here already with the email address that Google gave.'],
  ])('The notice %s has its own text', async (why, look, text) => {
    const { html } = await page(`/?notice=federation-${why}&provider=google`);
    expect(html).toContain(`class="${look}"`);
    expect(plain(html)).toContain(text);
  });

  it('The notice of a link offer hides the button of that provider', async () => {
    const { html } = await page('/?redirect=%2Ffederation%2Flink&notice=federation-offer&provider=google');
    expect(ways(html).map((way) => way?.split('?')[0])).not.toContain('/federation/google');
    expect(ways(html)).toHaveLength(4);
  });

  it.each(['?notice=federation-cancelled&provider=okta', '?notice=federation-hacked&provider=google'])(
    'An unknown provider or notice shows nothing: %s',
    async (search) => {
      const { status, html } = await page(`/${search}`);
      expect(status).toBe(200);
      expect(html).not.toMatch(/class="notice/);
    },
  );

  it('A failed attempt keeps the return address', async () => {
    const browser = foyer.browser();
    providers.answerAs('refuse', 'google');
    const back = (await comeBy(browser, '/federation/google?redirect=%2Fsettings')).headers.get('location') ?? '';
    expect(back).toBe('/?redirect=%2Fsettings&notice=federation-cancelled&provider=google');
    const html = await (await browser.get(back)).text();
    expect(html).toContain('action="/sign-in?redirect=%2Fsettings"');
  });

  it('The redirect ends with an empty fragment, which removes the one that Facebook adds', async () => {
    providers.answerAs('refuse', 'facebook');
    const back = (await comeBy(foyer.browser(), '/federation/facebook')).headers.get('location');
    expect(back).toBe('/?notice=federation-cancelled&provider=facebook#');
  });

  it.each(['google', 'facebook', 'amazon', 'acme-oidc'])(
    'A sign-up by %s that fails leads back to the sign-up page with the plan',
    async (id) => {
      const browser = foyer.browser();
      const notice = `notice=federation-cancelled&provider=${id}`;
      const way = `/federation/${id}?redirect=%2Fsettings`;
      const back = async (path: string) => {
        providers.answerAs('refuse');
        const answer = await comeBy(browser, path, { at: 'sign-up' });
        return answer.headers.get('location')?.replace(/#$/, '') ?? '';
      };
      expect(await back(way)).toBe(`/signup?redirect=%2Fsettings&${notice}`);
      const withPlan = await back(`${way}&planHash=growth-42`);
      expect(withPlan).toBe(`/signup/plan/growth-42?redirect=%2Fsettings&${notice}`);
      const html = await (await browser.get(withPlan)).text();
      expect(html).toMatch(/class="notice info".*without signing in there.*Try again/s);
      expect(ways(html)).toContain('/federation/google?redirect=%2Fsettings&planHash=growth-42');
      expect(html).toMatch(/<form id="provider-buttons"[^>]*><input type="hidden" name="at" value="sign-up"/);
    },
  );

  it('A sign-up that the provider does not allow leads to the sign-in page', async () => {
    providers.answerAs({ ...providers.people.amazon.ada, email: 'nobody-yet@example.com' }, 'amazon');
    const back = await comeBy(foyer.browser(), '/federation/amazon', { at: 'sign-up' });
    expect(back.headers.get('location')).toBe('/?notice=federation-sign-up-closed&provider=amazon');
  });
});

describe('an address of a provider’s domain', () => {
  const asked = async (fields: Record<string, string>) => {
    const url = await press(foyer.browser(), '/sign-in', fields);
    return { to: `${url.origin}${url.pathname}`, hint: url.searchParams.get('login_hint') };
  };
  const acme = { to: '', hint: '' };
  beforeAll(async () => {
    Object.assign(acme, await asked({ username: 'Nobody@ACME.example', password: '' }));
  });

  it('An address of the domain leads to its provider without a password', () => {
    expect(acme.to.startsWith(providers.url)).toBe(true);
    expect(acme.hint).toBe('nobody@acme.example');
  });

  it('A correct password still signs the user in', async () => {
    const member = await foyer.addUser({ email: 'right@acme.example' });
    const answer = await foyer.browser().post('/sign-in', { username: member.email, password });
    expect(answer.status).toBe(303);
  });

  it('A wrong password leads to the provider, whether or not the address belongs to a user', async () => {
    await foyer.addUser({ email: 'member@acme.example' });
    await foyer.addUser({ email: 'federated@acme.example', passwordHash: null });
    for (const username of ['member@acme.example', 'federated@acme.example', 'stranger@acme.example']) {
      expect(await asked({ username, password: 'not the password' })).toEqual({ ...acme, hint: username });
    }
  });

  it('Attack: too many guesses by others do not keep a user from the provider', async () => {
    const username = 'guessed@acme.example';
    await foyer.addUser({ email: username });
    const texts = new Set<string>();
    for (let guess = 0; guess < 12; guess += 1) texts.add((await asked({ username, password: `guess ${guess}` })).to);
    expect([...texts]).toEqual([acme.to]);
  });

  it('The page stays when the provider does not accept an embedded browser', async () => {
    const other = await startFoyer(
      anyBackend,
      providers.environment((file) => ({ ...file, google: { domains: ['workspace.example'] } })),
    );
    try {
      const browser = other.browser();
      const username = 'vera@workspace.example';
      const embedded = await browser.post('/sign-in', { username }, { 'user-agent': inInstagram });
      expect(embedded.status).toBe(400);
      expect((await press(browser, '/sign-in', { username })).searchParams.get('login_hint')).toBe(username);
    } finally {
      await other.close();
    }
  });

  it('An address of another domain or a subdomain needs its password', async () => {
    for (const username of ['vera@example.com', 'vera@sub.acme.example', '+32470123456', 'acme.example']) {
      expect((await foyer.browser().post('/sign-in', { username })).status).toBe(400);
    }
  });
});

describe('reauthentication', () => {
  it('A user without a password authenticates again with a linked provider, but not with another account', async () => {
    const { vera } = providers.people.google;
    const lotte = { ...vera, givenName: 'Lotte', email: 'lotte@example.com' };
    const browser = foyer.browser();
    providers.answerAs(lotte, 'google');
    await comeBy(browser, '/federation/google');
    const html = await (await browser.get('/re-authenticate?redirect=%2Fsettings')).text();
    expect(html).not.toContain('name="password"');
    expect(plain(html)).toContain('Your account has no password.');
    expect(ways(html)).toEqual(['/re-authenticate/provider/google?redirect=%2Fsettings']);

    const asked = await press(browser, ways(html)[0] ?? '');
    expect(asked.searchParams.get('login_hint')).toBe(lotte.email);
    providers.answerAs(vera, 'google');
    const back = (await comeBack(browser, asked)).headers.get('location') ?? '';
    expect(back).toBe('/re-authenticate?redirect=%2Fsettings&notice=federation-not-yours&provider=google');
    const said = plain(await (await browser.get(back)).text());
    expect(said).toContain('What you used at Google is not linked to your account here.');

    const before = await browser.cookies();
    providers.answerAs(lotte, 'google');
    const again = await comeBy(browser, ways(html)[0] ?? '');
    expect(again.headers.get('location')).not.toContain('notice');
    expect(await browser.cookies()).not.toEqual(before);
  });

  it('A provider that is not linked, or a visitor without a session, cannot authenticate again', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const html = await (await browser.get('/re-authenticate')).text();
    expect([html.includes('name="password"'), ways(html)]).toEqual([true, []]);
    expect((await browser.post('/re-authenticate/provider/google')).status).toBe(404);
    const stranger = await foyer.browser().post('/re-authenticate/provider/google');
    expect(stranger.headers.get('location')).toMatch(/^\/\?/);
  });
});
