import { password, startFoyer, type TestFoyer } from '../../support/foyer.ts';
import { relyingParty, tokensFor } from '../../support/relying-party.ts';
import { backends } from '../../support/stores.ts';
import { rowsEverywhere } from './rows-everywhere.ts';
import { marks } from './steps.ts';

describe.each(backends)('the copy of a user’s data, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('The export is one file with what every table holds and none of the secrets', async () => {
    const user = await foyer.addUser({ phone: '+4915112345679', phoneVerified: true });
    const browser = await foyer.signedIn(user);
    await rowsEverywhere(foyer, user);
    const other = await foyer.addUser({ phone: '+4915112345680', phoneVerified: true });
    await rowsEverywhere(foyer, other);
    const answer = await browser.post('/settings/data');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename=account-data-\d{4}-\d\d-\d\d\.json$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const text = await answer.text();
    const data = JSON.parse(text);
    expect(data).toMatchObject({
      from: foyer.url,
      exportedAt: expect.any(Number),
      member: user.id,
      account: {
        attributes: { email: user.email, phone_number: '+4915112345679', given_name: 'Ada' },
        hasPassword: true,
        record: { about: 'Restores chairs', additionalAttributes: { a: 1 } },
        termsAccepted: [{ version: 1, ip: marks.ip, userAgent: marks.userAgent, clientId: 'some-client' }],
        partnerDeals: [{ email: user.email, tier: 2 }],
        emailChanges: [{ newEmail: user.email }],
      },
      secondFactors: {
        preference: 'none',
        authenticatorAppSince: expect.any(Number),
        recoveryCodes: { left: 1, createdAt: expect.any(Number) },
        rememberedDevices: [{ userAgent: marks.userAgent, ip: marks.ip }],
      },
      passkeys: [{ name: 'Marked MacBook', transports: ['internal'], backedUp: true }],
      linkedAccounts: [{ kind: 'google', subject: `at-${user.id}`, email: 'marked@gmail.example' }],
      devices: [{ ip: '127.0.0.1', authTimeMs: expect.any(Number) }],
      messages: {
        outbox: expect.arrayContaining([
          expect.objectContaining({ channel: 'mail', template: 'password-changed' }),
          expect.objectContaining({ channel: 'sms' }),
          expect.objectContaining({ channel: 'notification' }),
        ]),
        notifications: [{ title: 'Marked note', status: 'unread' }],
      },
      signUps: [{ givenName: 'Marked' }],
      membership: {
        subscription: { status: 'canceled', paidPlanId: '10', card: { lastFour: '1881' } },
        purchases: [{ planId: '10', promotion: { typed: 'marked10' }, state: 'open' }],
        billingDetails: { company: 'Marked GmbH', postalCode: '10115', vatId: 'DE000000000' },
        orders: [
          {
            planId: '10',
            orderType: 'upgrade',
            paidCents: 9_900,
            card: { brand: 'visa', lastFour: '1881' },
            creditNotes: [{ number: 'M-0001-CN-01', amountCents: 100 }],
          },
        ],
        told: [{ about: 'trial-ends' }],
        trials: [{ of: 'email' }],
        waiting: [{ kind: 'keep' }],
      },
      clientApps: [{ clientId: 'some-client' }],
      leaving: { deletion: null, factorResets: [{ state: 'cancelled' }] },
    });
    for (const secret of [marks.secret, user.passwordHash ?? '?', other.id, other.email, other.phone ?? '?']) {
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
    }
  });

  it('The export names the clients that a user has signed in to', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const app = await relyingParty(foyer, await foyer.addClient({ name: 'Chair Market' }));
    await tokensFor(app, browser, user);
    const data = (await (await browser.post('/settings/data')).json()) as { clientApps: { name: string }[] };
    expect(data.clientApps.map(({ name }) => name)).toEqual(['Chair Market']);
  });

  it('The export requires a recent reauthentication', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    foyer.passTime(11 * 60_000);
    const answer = await browser.post('/settings/data');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/re-authenticate?redirect=%2Fsettings%2Fdata',
    ]);
    await browser.post('/re-authenticate?redirect=%2Fsettings%2Fdata', { password });
    expect((await browser.post('/settings/data')).status).toBe(200);
  });
});
