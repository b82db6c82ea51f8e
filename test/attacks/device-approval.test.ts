import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { answerCode, hiddenField, typeCode } from '../support/devices.ts';
import { password } from '../support/foyer.ts';
import { store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpDevice } from './device-codes-steps.ts';
import { plantRequest } from './plant.ts';

/** RFC 8628, section 5: one person starts the sign-in on the device, and any person with the code can complete it. */
describe.each(backends)('device codes under attack on $name', (backend) => {
  const context = setUpDevice(backend);
  const { errorOf, confirmPage } = context;

  it('verification_uri_complete always asks for confirmation, even a signed-in user (phishing)', async () => {
    const [asked, victim] = [await context.radio.ask(), await context.foyer.signedIn(context.user)];
    const short = await victim.get(String(asked.verification_uri_complete), { from: 'cross-site' });
    expect([short.status, new URL(locationOf(short)).pathname]).toEqual([303, '/oauth2/device']);
    const page = await victim.get(locationOf(short), { from: 'cross-site' });
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html).toContain(`value="${asked.user_code}"`);
    // The page does not continue by itself: it has neither a script nor a refresh.
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
      const asked = await context.radio.ask();
      const before = context.foyer.logged().length;
      const stranger = context.foyer.browser();
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
      // The page that the user sees again still works.
      const again = await stranger.post('/oauth2/device', {
        xsrf: hiddenField(html, 'xsrf'),
        user_code: asked.user_code,
      });
      expect(again.status).toBeLessThan(400);
      const lines = context.foyer.logged().slice(before).split('\n').filter(Boolean);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    },
  );

  it('The user sees the app, the code and the own account and can refuse (phishing)', async () => {
    const [asked, victim] = [await context.radio.ask(), await context.foyer.signedIn(context.user)];
    const html = await (await typeCode(victim, asked.user_code)).text();
    for (const shown of ['Harbour Radio', `>${asked.user_code}<`, context.user.email, 'If someone sent you the code']) {
      expect(html).toContain(shown);
    }
    expect(html).toMatch(/name="abort"[\s\S]*Refuse/);
    expect(new URL(await answerCode(victim, asked.user_code, 'abort')).pathname).toBe('/device/refused');
    expect(await errorOf(asked)).toBe('access_denied');
  });

  it('A page of another site cannot answer for the user, not even with a form token of the attacker', async () => {
    const [asked, victim, attacker] = [
      await context.radio.ask(),
      await context.foyer.signedIn(context.user),
      context.foyer.browser(),
    ];
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
    const [asked, attacker, victim] = [
      await context.radio.ask(),
      context.foyer.browser(),
      await context.foyer.signedIn(context.user),
    ];
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
    const [asked, attacker, victim] = [
      await context.radio.ask(),
      context.foyer.browser(),
      await context.foyer.signedIn(context.user),
    ];
    const link = new URL(await answerCode(attacker, asked.user_code));
    const id = link.searchParams.get('authorization_code') ?? '';
    await plantRequest(context.foyer, victim, id);
    expect(await store(victim, new URL(`/verify-user${link.search}`, context.foyer.url).href)).toContain(
      `/device/${id}`,
    );
    const answer = await attacker.get(`/oauth2/device/${id}`);
    expect(answer.headers.get('location') ?? '').not.toContain('/device/done');
    expect((await context.radio.poll(asked)).status).toBe(400);
    // This holds for a signed-in attacker too.
    const mallory = await context.foyer.addUser();
    await attacker.post('/sign-in', { username: mallory.email, password });
    expect((await attacker.get(`/oauth2/device/${id}`)).headers.get('location') ?? '').not.toContain('/device/done');
    expect((await context.radio.poll(asked)).status).toBe(400);
  });

  it('A code confirmed by one user is not completed by another user who signs in on that browser later', async () => {
    const [asked, browser] = [await context.radio.ask(), context.foyer.browser()];
    const link = new URL(await answerCode(browser, asked.user_code));
    const signedIn = locationOf(
      await browser.post(`/sign-in${link.search}`, { username: context.user.email, password }),
    );
    const resume = await store(browser, signedIn);
    const other = await context.foyer.addUser();
    await browser.post('/logout');
    await browser.post('/sign-in', { username: other.email, password });
    const answer = await browser.get(resume);
    expect(answer.headers.get('location') ?? '').not.toContain('/device/done');
    expect((await context.radio.poll(asked)).status).toBe(400);
  });

  it('A code confirmed in many browsers at once is taken by one, and the device gets that user', async () => {
    const asked = await context.radio.ask();
    const ready: { member: User; browser: Browser; fields: Awaited<ReturnType<typeof confirmPage>> }[] = [];
    for (let n = 0; n < 5; n += 1) {
      const member = await context.foyer.addUser();
      const browser = await context.foyer.signedIn(member);
      ready.push({ member, browser, fields: await confirmPage(browser, asked.user_code) });
    }
    const answers = await Promise.all(
      ready.map(({ browser, fields }) => browser.post('/oauth2/device', { ...fields, confirm: 'yes' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400, 400, 400, 400]);
    const winner = ready[answers.findIndex(({ status }) => status === 303)]?.member;
    const { status, body } = await context.radio.poll(asked);
    const claims = JSON.parse(Buffer.from(String(body.id_token).split('.')[1] ?? '', 'base64url').toString());
    expect([status, claims.sub]).toEqual([200, winner?.id]);
    // No later request changes the decision.
    const late = ready.find(({ member }) => member !== winner);
    const again = await late?.browser.post('/oauth2/device', { ...late.fields, confirm: 'yes' });
    expect(again?.status).toBe(400);
    expect(await errorOf(asked)).toBe('invalid_grant');
  });

  it('A code refused in one browser and confirmed in another at once has one decision', async () => {
    const asked = await context.radio.ask();
    const [one, two] = [
      await context.foyer.signedIn(context.user),
      await context.foyer.signedIn(await context.foyer.addUser()),
    ];
    const [first, second] = [await confirmPage(one, asked.user_code), await confirmPage(two, asked.user_code)];
    const [refusal, approval] = await Promise.all([
      one.post('/oauth2/device', { ...first, abort: 'yes' }),
      two.post('/oauth2/device', { ...second, confirm: 'yes' }),
    ]);
    expect([refusal.status, approval.status].toSorted()).toEqual([303, 400]);
    const { status, body } = await context.radio.poll(asked);
    expect([status, body.error]).toEqual(approval.status === 303 ? [200, undefined] : [400, 'access_denied']);
  });
});
