import { rateLimits } from '../../server/rate-limits/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { reset } from '../password/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { answerCode, type Device, device, finishCode, hiddenField, typeCode } from '../support/devices.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { loot } from '../support/loot.ts';
import { store } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { plantRequest } from './plant.ts';

const deviceRequestsAMinute = rateLimits.deviceRequest.counters[0].max;

/** RFC 8628, section 5: a device's sign-in is begun by whoever has the device, and completed by whoever has the code. */
describe.each(backends)('device codes under attack on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let radio: Device;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    radio = await device(foyer);
  });
  afterAll(() => foyer?.close());

  const errorOf = async (asked: Awaited<ReturnType<Device['ask']>>, by = radio) => (await by.poll(asked)).body.error;
  const confirmPage = async (browser: Browser, code: string) => {
    const html = await (await typeCode(browser, code)).text();
    return { xsrf: hiddenField(html, 'xsrf'), user_code: hiddenField(html, 'user_code') };
  };

  it('verification_uri_complete always asks for confirmation, even a signed-in user (phishing)', async () => {
    const [asked, victim] = [await radio.ask(), await foyer.signedIn(user)];
    const short = await victim.get(String(asked.verification_uri_complete), { from: 'cross-site' });
    expect([short.status, new URL(locationOf(short)).pathname]).toEqual([303, '/oauth2/device']);
    const page = await victim.get(locationOf(short), { from: 'cross-site' });
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html).toContain(`value="${asked.user_code}"`);
    // Nor does the page go on by itself: neither script of its own nor a refresh.
    expect(html).not.toMatch(/http-equiv="refresh"|\.submit\(|<script>/i);
    expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    const typed = await victim.post('/oauth2/device', { xsrf: hiddenField(html, 'xsrf'), user_code: asked.user_code });
    expect(typed.status).toBe(200);
    expect(await errorOf(asked)).toBe('authorization_pending');
  });

  it.each([
    ['without a cookie of the provider', undefined],
    ['with an unknown session', 'foyer_op=no-such-session'],
    ['with a wrong signature', 'foyer_op=no-such-session; foyer_op.sig=AAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ])(
    'A code posted %s is redirected to /device with the code, counts as a guess and logs no error',
    async (_what, cookie) => {
      const asked = await radio.ask();
      const before = foyer.logged().length;
      const stranger = foyer.browser();
      const answer = await stranger.post(
        '/oauth2/device',
        { xsrf: 'made-up', user_code: asked.user_code },
        cookie === undefined ? {} : { cookie },
      );
      expect(answer.status).toBe(303);
      const at = new URL(locationOf(answer));
      expect([at.pathname, at.searchParams.get('user_code')]).toEqual(['/device', asked.user_code]);
      const page = await stranger.get(locationOf(await stranger.get(at.href)));
      const html = await page.text();
      expect(page.status).toBe(200);
      expect(html).toContain(`value="${asked.user_code}"`);
      expect(html).toContain('This page was out of date.');
      // What the member sees again works.
      const again = await stranger.post('/oauth2/device', {
        xsrf: hiddenField(html, 'xsrf'),
        user_code: asked.user_code,
      });
      expect(again.status).toBeLessThan(400);
      const lines = foyer.logged().slice(before).split('\n').filter(Boolean);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    },
  );

  it('Guesses at user codes without a provider session are counted in the limit of one address', async () => {
    const limited = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '3' });
    try {
      const statuses = [];
      for (let n = 0; n < 5; n += 1) {
        statuses.push((await limited.browser().post('/oauth2/device', { xsrf: 'x', user_code: 'BCDF-GHJK' })).status);
      }
      expect(statuses).toEqual([303, 303, 303, 429, 429]);
    } finally {
      await limited.close();
    }
  });

  it('The user sees the app, the code and the own account and can refuse (phishing)', async () => {
    const [asked, victim] = [await radio.ask(), await foyer.signedIn(user)];
    const html = await (await typeCode(victim, asked.user_code)).text();
    for (const shown of ['Harbour Radio', `>${asked.user_code}<`, user.email, 'If somebody sent you the code']) {
      expect(html).toContain(shown);
    }
    expect(html).toMatch(/name="abort"[\s\S]*Refuse/);
    expect(new URL(await answerCode(victim, asked.user_code, 'abort')).pathname).toBe('/device/refused');
    expect(await errorOf(asked)).toBe('access_denied');
  });

  it('A page of another site cannot answer for the user, not even with a form token of the attacker', async () => {
    const [asked, victim, attacker] = [await radio.ask(), await foyer.signedIn(user), foyer.browser()];
    await victim.get('/oauth2/device');
    const theirs = hiddenField(await (await attacker.get('/oauth2/device')).text(), 'xsrf');
    const fields = { user_code: asked.user_code, confirm: 'yes' };
    const crossSite = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const answer of [
      await victim.post('/oauth2/device', { ...fields, xsrf: theirs }, crossSite),
      await victim.post('/oauth2/device', { ...fields, xsrf: theirs }, { 'sec-fetch-site': 'same-site' }),
    ]) {
      expect(answer.status).toBe(403);
    }
    for (const xsrf of ['', theirs]) {
      expect((await victim.post('/oauth2/device', { ...fields, xsrf })).status).toBe(400);
    }
    expect(await errorOf(asked)).toBe('authorization_pending');
  });

  it('A confirmed code that is resumed in another browser or opened from a link is refused', async () => {
    const [asked, attacker, victim] = [await radio.ask(), foyer.browser(), await foyer.signedIn(user)];
    const link = new URL(await answerCode(attacker, asked.user_code));
    const id = link.searchParams.get('authorization_code') ?? '';
    expect(id).not.toBe('');
    expect((await victim.get(`/verify-user${link.search}`)).status).toBe(403);
    expect((await victim.postJson('/storage', { authorization_code: id })).status).toBe(403);
    const resumed = await victim.get(`/oauth2/device/${id}`, { from: 'cross-site' });
    expect([resumed.status, await resumed.text()]).toEqual([400, expect.stringContaining('<h1')]);
    expect(await errorOf(asked)).toBe('authorization_pending');
  });

  it('With the browser lock open, the victim completes the request and an attacker who resumes it gets nothing', async () => {
    const [asked, attacker, victim] = [await radio.ask(), foyer.browser(), await foyer.signedIn(user)];
    const link = new URL(await answerCode(attacker, asked.user_code));
    const id = link.searchParams.get('authorization_code') ?? '';
    await plantRequest(foyer, victim, id);
    expect(await store(victim, new URL(`/verify-user${link.search}`, foyer.url).href)).toContain(`/device/${id}`);
    const answer = await attacker.get(`/oauth2/device/${id}`);
    expect(answer.headers.get('location') ?? '').not.toContain('/device/done');
    expect((await radio.poll(asked)).status).toBe(400);
    // Signed in as themselves, too.
    const mallory = await foyer.addUser();
    await attacker.post('/sign-in', { username: mallory.email, password });
    expect((await attacker.get(`/oauth2/device/${id}`)).headers.get('location') ?? '').not.toContain('/device/done');
    expect((await radio.poll(asked)).status).toBe(400);
  });

  it('A code confirmed by one user is not completed by another user who signs in on that browser later', async () => {
    const [asked, browser] = [await radio.ask(), foyer.browser()];
    const link = new URL(await answerCode(browser, asked.user_code));
    const signedIn = locationOf(await browser.post(`/sign-in${link.search}`, { username: user.email, password }));
    const resume = await store(browser, signedIn);
    const other = await foyer.addUser();
    await browser.post('/logout');
    await browser.post('/sign-in', { username: other.email, password });
    const answer = await browser.get(resume);
    expect(answer.headers.get('location') ?? '').not.toContain('/device/done');
    expect((await radio.poll(asked)).status).toBe(400);
  });

  it('A code confirmed in many browsers at once is taken by one, and the device gets that user', async () => {
    const asked = await radio.ask();
    const ready: { member: User; browser: Browser; fields: Awaited<ReturnType<typeof confirmPage>> }[] = [];
    for (let n = 0; n < 5; n += 1) {
      const member = await foyer.addUser();
      const browser = await foyer.signedIn(member);
      ready.push({ member, browser, fields: await confirmPage(browser, asked.user_code) });
    }
    const answers = await Promise.all(
      ready.map(({ browser, fields }) => browser.post('/oauth2/device', { ...fields, confirm: 'yes' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400, 400, 400, 400]);
    const winner = ready[answers.findIndex(({ status }) => status === 303)]?.member;
    const { status, body } = await radio.poll(asked);
    const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
    expect([status, claims.sub]).toEqual([200, winner?.id]);
    // And nobody changes that afterwards.
    const late = ready.find(({ member }) => member !== winner);
    const again = await late?.browser.post('/oauth2/device', { ...late.fields, confirm: 'yes' });
    expect(again?.status).toBe(400);
    expect(await errorOf(asked)).toBe('invalid_grant');
  });

  it('A code refused in one browser and confirmed in another at once has one decision', async () => {
    const asked = await radio.ask();
    const [one, two] = [await foyer.signedIn(user), await foyer.signedIn(await foyer.addUser())];
    const [first, second] = [await confirmPage(one, asked.user_code), await confirmPage(two, asked.user_code)];
    const [refusal, approval] = await Promise.all([
      one.post('/oauth2/device', { ...first, abort: 'yes' }),
      two.post('/oauth2/device', { ...second, confirm: 'yes' }),
    ]);
    expect([refusal.status, approval.status].toSorted()).toEqual([303, 400]);
    const { status, body } = await radio.poll(asked);
    expect([status, body.error]).toEqual(approval.status === 303 ? [200, undefined] : [400, 'access_denied']);
  });

  it('Of twenty parallel polls at most one gets tokens, and the proof of a leak revokes them', async () => {
    const [asked, browser] = [await radio.ask(), await foyer.signedIn(user)];
    await answerCode(browser, asked.user_code);
    const answers = await Promise.all(Array.from({ length: 20 }, () => radio.poll(asked)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    for (const { body } of answers.filter((one) => !won.includes(one))) expect(body.error).toBe('invalid_grant');
    for (const { body } of won) {
      const info = await sendRequest(`${foyer.url}/oauth2/userInfo`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      });
      expect(info.status).toBe(401);
    }
  });

  it('A used code stays used when it is typed again before and after the device gets its tokens', async () => {
    const [asked, browser] = [await radio.ask(), await foyer.signedIn(user)];
    await answerCode(browser, asked.user_code);
    const other = await foyer.signedIn(await foyer.addUser());
    const used = async () => {
      const page = await typeCode(other, asked.user_code);
      return [page.status, (await page.text()).includes('has been used already')];
    };
    expect(await used()).toEqual([400, true]);
    expect((await radio.poll(asked)).status).toBe(200);
    expect(await used()).toEqual([400, true]);
  });

  it('A device code sent by another app or without the client secret gets nothing and stays valid', async () => {
    const [television, asked] = [await device(foyer, { public: false }), await radio.ask()];
    await answerCode(await foyer.signedIn(user), asked.user_code);
    expect(await errorOf(asked, television)).toBe('invalid_grant');
    const own = await television.ask();
    const { status } = await sendRequest(`${foyer.url}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: television.id,
        device_code: own.device_code,
      }),
    });
    expect(status).toBe(401);
    expect((await radio.poll(asked)).status).toBe(200);
    expect(await errorOf({ ...asked, device_code: 'made-up' })).toBe('invalid_grant');
  });

  it.each<[string, (member: User) => Promise<unknown>]>([
    ['is disabled', (member) => setDisabled(foyer.deps.database.db, member.id, foyer.deps.now(), foyer.deps.now())],
    ['resets the password', (member) => reset(foyer, foyer.browser(), member.email)],
    [
      'signs out everywhere else',
      async (member) => (await foyer.signedIn(member)).post('/settings/devices/sign-out-others'),
    ],
  ])('A user who %s after confirming gives the device no tokens', async (_what, act) => {
    const [asked, member] = [await radio.ask(), await foyer.addUser()];
    await answerCode(await foyer.signedIn(member), asked.user_code);
    await act(member);
    expect(await errorOf(asked)).toBe('invalid_grant');
  });

  it('A confirmed device stays connected when the user signs out of the browser', async () => {
    const [asked, member] = [await radio.ask(), await foyer.addUser()];
    const browser = await foyer.signedIn(member);
    await answerCode(browser, asked.user_code);
    await browser.post('/logout');
    expect((await radio.poll(asked)).status).toBe(200);
  });

  it('A client without the device grant gets no device code, and no client gets a scope it is not registered for', async () => {
    const web = await foyer.addClient({ public: true });
    const ask = async (fields: Record<string, string>) => {
      const url = `${foyer.url}/oauth2/device_authorization`;
      const answer = await sendRequest(url, { method: 'POST', body: new URLSearchParams(fields) });
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    expect(await ask({ client_id: web.id, scope: 'openid' })).toEqual([400, 'invalid_request']);
    expect(await ask({ client_id: radio.id, scope: 'openid phone' })).toEqual([400, 'invalid_scope']);
    expect(await ask({ client_id: 'nobody', scope: 'openid' })).toEqual([401, 'invalid_client']);
  });

  it('A request for a fresh sign-in (max_age=0) is not satisfied by an earlier sign-in', async () => {
    const [asked, browser] = [await radio.ask({ max_age: '0' }), await foyer.signedIn(user)];
    const next = await answerCode(browser, asked.user_code);
    expect(next).not.toContain('/device/done');
    expect(await finishCode(browser, next, user)).toContain('/device/done');
    expect((await radio.poll(asked)).status).toBe(200);
  });

  it('Neither code is in the log or, even as a plain hash, in the stores', async () => {
    const asked = await radio.ask();
    const browser = await foyer.signedIn(user);
    await browser.get(`/oauth2/device?user_code=${asked.user_code}`);
    await typeCode(browser, asked.user_code);
    const plain = asked.user_code.replace('-', '');
    const [stolen, logged] = [await loot(foyer.stores), foyer.logged()];
    expect(stolen).toContain(sha256(asked.device_code));
    for (const secret of [asked.device_code, asked.user_code, plain, sha256(plain), sha256(asked.user_code)]) {
      expect(stolen.includes(secret)).toBe(false);
    }
    for (const secret of [asked.device_code, asked.user_code, plain]) expect(logged.includes(secret)).toBe(false);
  });

  it.each([
    ['all of it', ['get', 'getConsumable', 'consumeCount', 'set', 'setIfAbsent']],
    ['what the library asks', ['getConsumable']],
    ['the counting of guesses', ['consumeCount']],
  ] as const)('With the store away (%s), every answer is 503 and no code is used up', async (_what, methods) => {
    const [asked, browser] = [await radio.ask(), await foyer.signedIn(user)];
    const fields = { ...(await confirmPage(browser, asked.user_code)), confirm: 'yes' };
    const { kv } = foyer.stores;
    const away = methods.map((method) => jest.spyOn(kv, method).mockRejectedValue(new StoreUnavailable('away')));
    try {
      expect((await browser.post('/oauth2/device', fields)).status).toBe(503);
    } finally {
      for (const spy of away) spy.mockRestore();
    }
    expect((await browser.post('/oauth2/device', fields)).headers.get('location')).toContain('/device/done');
    expect((await radio.poll(asked)).status).toBe(200);
  });

  it('A client that requests codes without end gets 429 with Retry-After', async () => {
    for (const address of ['127.0.0.1', '::/64']) {
      await foyer.stores.kv.consumeCount(`rate:device-requests:${address}`, 60_000, deviceRequestsAMinute);
    }
    await expect(radio.ask()).rejects.toThrow();
    const answer = await sendRequest(`${foyer.url}/oauth2/device_authorization`, { method: 'POST' });
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});
