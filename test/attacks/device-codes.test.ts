import { rateLimits } from '../../server/http/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { reset } from '../password/steps.ts';
import { answerCode, device, finishCode, typeCode } from '../support/devices.ts';
import { startFoyer } from '../support/foyer.ts';
import { loot } from '../support/loot.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { setUpDevice } from './device-codes-steps.ts';

const deviceRequestsAMinute = rateLimits.deviceRequest.counters[0].max;

/** RFC 8628, section 5: one person starts the sign-in on the device, and any person with the code can complete it. */
describe.each(backends)('device codes under attack on $name', (backend) => {
  const context = setUpDevice(backend);
  const { errorOf, confirmPage } = context;

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

  it('Of twenty parallel polls at most one gets tokens, and the proof of a leak revokes them', async () => {
    const [asked, browser] = [await context.radio.ask(), await context.foyer.signedIn(context.user)];
    await answerCode(browser, asked.user_code);
    const answers = await Promise.all(Array.from({ length: 20 }, () => context.radio.poll(asked)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).toBeLessThanOrEqual(1);
    for (const { body } of answers.filter((one) => !won.includes(one))) expect(body.error).toBe('invalid_grant');
    for (const { body } of won) {
      const info = await sendRequest(`${context.foyer.url}/oauth2/userInfo`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      });
      expect(info.status).toBe(401);
    }
  });

  it('A used code stays used when it is typed again before and after the device gets its tokens', async () => {
    const [asked, browser] = [await context.radio.ask(), await context.foyer.signedIn(context.user)];
    await answerCode(browser, asked.user_code);
    const other = await context.foyer.signedIn(await context.foyer.addUser());
    const used = async () => {
      const page = await typeCode(other, asked.user_code);
      return [page.status, (await page.text()).includes('has been used already')];
    };
    expect(await used()).toEqual([400, true]);
    expect((await context.radio.poll(asked)).status).toBe(200);
    expect(await used()).toEqual([400, true]);
  });

  it('A device code sent by another app or without the client secret gets nothing and stays valid', async () => {
    const [television, asked] = [await device(context.foyer, { public: false }), await context.radio.ask()];
    await answerCode(await context.foyer.signedIn(context.user), asked.user_code);
    expect(await errorOf(asked, television)).toBe('invalid_grant');
    const own = await television.ask();
    const { status } = await sendRequest(`${context.foyer.url}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: television.id,
        device_code: own.device_code,
      }),
    });
    expect(status).toBe(401);
    expect((await context.radio.poll(asked)).status).toBe(200);
    expect(await errorOf({ ...asked, device_code: 'made-up' })).toBe('invalid_grant');
  });

  it.each<[string, (member: User) => Promise<unknown>]>([
    [
      'is disabled',
      (member) =>
        setDisabled(context.foyer.deps.database.db, member.id, {
          disabledAt: context.foyer.deps.now(),
          nowMs: context.foyer.deps.now(),
        }),
    ],
    ['resets the password', (member) => reset(context.foyer, context.foyer.browser(), member.email)],
    [
      'signs out everywhere else',
      async (member) => (await context.foyer.signedIn(member)).post('/settings/devices/sign-out-others'),
    ],
  ])('A user who %s after confirming gives the device no tokens', async (_what, act) => {
    const [asked, member] = [await context.radio.ask(), await context.foyer.addUser()];
    await answerCode(await context.foyer.signedIn(member), asked.user_code);
    await act(member);
    expect(await errorOf(asked)).toBe('invalid_grant');
  });

  it('A confirmed device stays connected when the user signs out of the browser', async () => {
    const [asked, member] = [await context.radio.ask(), await context.foyer.addUser()];
    const browser = await context.foyer.signedIn(member);
    await answerCode(browser, asked.user_code);
    await browser.post('/logout');
    expect((await context.radio.poll(asked)).status).toBe(200);
  });

  it('A client without the device grant gets no device code, and no client gets a scope it is not registered for', async () => {
    const web = await context.foyer.addClient({ public: true });
    const ask = async (fields: Record<string, string>) => {
      const url = `${context.foyer.url}/oauth2/device_authorization`;
      const answer = await sendRequest(url, { method: 'POST', body: new URLSearchParams(fields) });
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    expect(await ask({ client_id: web.id, scope: 'openid' })).toEqual([400, 'invalid_request']);
    expect(await ask({ client_id: context.radio.id, scope: 'openid phone' })).toEqual([400, 'invalid_scope']);
    expect(await ask({ client_id: 'unknown-client', scope: 'openid' })).toEqual([401, 'invalid_client']);
  });

  it('A request for a fresh sign-in (max_age=0) is not satisfied by an earlier sign-in', async () => {
    const [asked, browser] = [await context.radio.ask({ max_age: '0' }), await context.foyer.signedIn(context.user)];
    const next = await answerCode(browser, asked.user_code);
    expect(next).not.toContain('/device/done');
    expect(await finishCode(browser, next, context.user)).toContain('/device/done');
    expect((await context.radio.poll(asked)).status).toBe(200);
  });

  it('Neither code is in the log or, even as a plain hash, in the stores', async () => {
    const asked = await context.radio.ask();
    const browser = await context.foyer.signedIn(context.user);
    await browser.get(`/oauth2/device?user_code=${asked.user_code}`);
    await typeCode(browser, asked.user_code);
    const plain = asked.user_code.replace('-', '');
    const [stolen, logged] = [await loot(context.foyer.stores), context.foyer.logged()];
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
    const [asked, browser] = [await context.radio.ask(), await context.foyer.signedIn(context.user)];
    const fields = { ...(await confirmPage(browser, asked.user_code)), confirm: 'yes' };
    const { kv } = context.foyer.stores;
    const away = methods.map((method) => jest.spyOn(kv, method).mockRejectedValue(new StoreUnavailable('away')));
    try {
      expect((await browser.post('/oauth2/device', fields)).status).toBe(503);
    } finally {
      for (const spy of away) spy.mockRestore();
    }
    expect((await browser.post('/oauth2/device', fields)).headers.get('location')).toContain('/device/done');
    expect((await context.radio.poll(asked)).status).toBe(200);
  });

  it('A client that requests codes without end gets 429 with Retry-After', async () => {
    for (const address of ['127.0.0.1', '::/64']) {
      await context.foyer.stores.kv.consumeCount(`rate:device-requests:${address}`, 60_000, deviceRequestsAMinute);
    }
    await expect(context.radio.ask()).rejects.toThrow();
    const answer = await sendRequest(`${context.foyer.url}/oauth2/device_authorization`, { method: 'POST' });
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});
