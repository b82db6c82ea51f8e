import { readFileSync } from 'node:fs';
import { type EventType, type ListedEvent, listEvents } from '../../server/audit/index.ts';
import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { askForPhone, fresh, phoneCode, showPhoneCode } from '../account/contact/steps.ts';
import { askToLeave, dayMs, leavingMember, operatorOf } from '../account/deletion/steps.ts';
import { link, linksOf, removePath } from '../account/provider-steps.ts';
import { openShop, press, type Shop } from '../billing/checkout/shop.ts';
import { createGift, giftOperator, giftPlans } from '../billing/gift-steps.ts';
import { comeBy, type Kind, pressButton, somebody } from '../federation/steps.ts';
import { addPasskey, signInWith } from '../passkeys/steps.ts';
import { begin, confirm, member, newAddress } from '../sign-up/steps.ts';
import { Authenticator } from '../support/authenticator.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, signInBrowser } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { sendRequest } from '../support/send-request.ts';
import { actor, byMember, byOperator, type Expected, here, nowhere } from './parties.ts';

const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36';

describe('each type of event of the audit trail, caused from outside', () => {
  let shop: Shop;
  let providers: TestProviders;
  beforeAll(async () => {
    providers = await startProviders();
    shop = await openShop({ ...providers.environment(), PLANS_FILE: giftPlans() });
    providers.tell(shop.foyer.url);
    shop.standIn.tell(shop.foyer.url);
    shop.standIn.webhooks.mode = 'held';
  });
  afterAll(async () => {
    await shop?.close();
    await providers?.close();
  });

  const visitor = (): Browser => {
    const browser = shop.foyer.browser();
    browser.headers['user-agent'] = userAgent;
    return browser;
  };
  const signedIn = (user: User) => signInBrowser(visitor(), user);
  async function atHome(): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser();
    return { user, browser: await signedIn(user) };
  }
  const newest = async (type: EventType): Promise<ListedEvent | undefined> => {
    await shop.foyer.app.audit.seal();
    return (await listEvents(shop.foyer.deps.database.db, { type, limit: 1 }))[0];
  };
  async function expectNewest(type: EventType, expected: Expected): Promise<void> {
    const { id, at, seq, hash, erased, ...event } = (await newest(type)) ?? {};
    expect(event).toEqual({ type, ...expected });
  }

  /** A user with a paid plan; the id of the invoice. */
  async function subscriber() {
    const { user, browser } = await atHome();
    await shop.saveCard(user);
    expect((await press(browser, '/plan-purchase/10')).status).toBe(303);
    const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
    return { user, browser, invoice: order?.invoiceId ?? '' };
  }
  const byStripe = (user: User, details: object): Expected => ({
    ...actor('stripe'),
    member: user.id,
    ...nowhere,
    details: { ...details },
  });
  async function linked(kind: Kind) {
    const { user, browser } = await atHome();
    const who = somebody(providers, kind);
    await link(providers, browser, kind, who);
    return { user, browser, who };
  }
  async function withPasskey() {
    const { user, browser } = await atHome();
    const authenticator = new Authenticator(shop.foyer.url);
    expect((await addPasskey(browser, authenticator)).status).toBe(303);
    return { user, browser, authenticator };
  }
  const disable = async (user: User) => {
    expect(await operatorOf(shop.foyer)('user', 'disable', user.email)).toMatchObject({ code: 0 });
  };
  async function connectApp() {
    const user = await shop.foyer.addUser();
    const registered = await shop.foyer.addClient({ scopes: ['openid', 'email'], thirdParty: true });
    const browser = visitor();
    await tokensFor(await relyingParty(shop.foyer, registered, 'openid email'), browser, user, { prompt: 'consent' });
    return { user, browser, clientId: registered.id };
  }

  const acts: Record<EventType, () => Promise<Expected>> = {
    async 'sign-in.completed'() {
      const { user } = await atHome();
      return byMember(user, { amr: ['pwd'] });
    },
    async 'sign-in.refused'() {
      const user = await shop.foyer.addUser();
      await visitor().post('/sign-in', { username: user.email, password: 'a wrong one' });
      const details = { method: 'password', attempts: 1 };
      return { ...byMember(user, details), ...actor('visitor') };
    },
    async 'sign-in.refused-many'() {
      for (let n = 0; n < 13; n += 1) {
        const { email } = await shop.foyer.addUser();
        await visitor().post('/sign-in', { username: email, password: 'a wrong one' });
      }
      return { ...actor('visitor'), member: null, ...nowhere, details: { attempts: 3 } };
    },
    async 'sign-out.completed'() {
      const { user, browser } = await atHome();
      expect((await browser.post('/logout')).status).toBe(303);
      return byMember(user, {});
    },
    async 'password.changed'() {
      const { user, browser } = await atHome();
      await browser.post('/settings/password', { old_password: password, new_password: 'another sesame 8' });
      return byMember(user, {});
    },
    async 'factor.changed'() {
      const { user } = await withPasskey();
      return byMember(user, { change: 'passkey-added' });
    },
    async 'contact.changed'() {
      const { user, browser } = await atHome();
      const { phone } = fresh();
      await askForPhone(browser, phone);
      await showPhoneCode(browser, await phoneCode(shop.foyer, phone));
      return byMember(user, { change: 'phone' });
    },
    async 'profile.changed'() {
      const { user, browser } = await atHome();
      await browser.post('/settings/name', { given_name: 'Augusta', family_name: 'King' });
      return byMember(user, { change: 'name' });
    },
    async 'provider.changed'() {
      const { user, browser } = await linked('google');
      const [known] = await linksOf(shop.foyer, user);
      await browser.post(removePath(known?.id ?? ''));
      return byMember(user, { change: 'provider-removed' });
    },
    async 'device.changed'() {
      const { user, browser } = await atHome();
      await signedIn(user);
      await browser.post('/settings/devices/sign-out-others');
      return byMember(user, { change: 'sessions-ended' });
    },
    async 'app.connected'() {
      const { user, clientId: client } = await connectApp();
      return { ...byMember(user, { scopes: ['openid', 'email'] }), client };
    },
    async 'app.removed'() {
      const { user, browser, clientId: client } = await connectApp();
      await browser.post(`/settings/apps/remove?client_id=${client}`);
      return { ...byMember(user, { change: 'app-removed' }), client };
    },
    async 'account.created'() {
      const [browser, email] = [visitor(), newAddress()];
      await confirm(browser, await begin(shop.foyer, browser, email));
      const user = await member(shop.foyer, email);
      return byMember({ id: user?.id ?? '' }, {});
    },
    async 'account.deletion-requested'() {
      const { user, browser } = await atHome();
      await askToLeave(browser);
      return byMember(user, {});
    },
    async 'account.deletion-cancelled'() {
      const user = await leavingMember(shop.foyer);
      await signedIn(user);
      return byMember(user, {});
    },
    async 'account.erased'() {
      await leavingMember(shop.foyer);
      shop.foyer.passTime(15 * dayMs);
      await shop.foyer.app.deletion.work();
      return { ...actor('system'), member: null, ...nowhere, details: {} };
    },
    async 'membership.changed'() {
      const { user } = await subscriber();
      return byMember(user, { plan: '10', status: 'active' });
    },
    async 'gift.created'() {
      await createGift(shop.foyer);
      return byOperator({ gifts: 1, plan: '11', months: 3 });
    },
    async 'gift.redeemed'() {
      const { user, browser } = await atHome();
      const { id, code } = await createGift(shop.foyer);
      await browser.post('/gift', { code });
      return byMember(user, { gift: id, plan: '11', months: 3 });
    },
    async 'gift.revoked'() {
      const { id } = await createGift(shop.foyer);
      expect(await giftOperator(shop.foyer)('gift', 'revoke', id)).toMatchObject({ code: 0 });
      return byOperator({ gift: id });
    },
    async 'payment.made'() {
      const { user, invoice } = await subscriber();
      return byMember(user, { invoice, amountCents: 9_900, currency: 'usd', plan: '10' });
    },
    async 'payment.refunded'() {
      const { user, invoice } = await subscriber();
      shop.standIn.engine.refund(invoice, 900);
      await shop.standIn.webhooks.deliver();
      return byStripe(user, { invoice, amountCents: 900, currency: 'usd' });
    },
    async 'payment.disputed'() {
      const { user, invoice } = await subscriber();
      shop.standIn.engine.dispute(invoice);
      await shop.standIn.webhooks.deliver();
      return byStripe(user, { invoice, state: 'open' });
    },
    async 'operator.command'() {
      const user = await shop.foyer.addUser();
      await disable(user);
      return { ...byOperator({ command: 'user disable', exitCode: 0 }), member: user.id };
    },
  };

  it('The document names each type of event that has a test here', () => {
    const document = readFileSync('docs/audit.md', 'utf8');
    const cells = document.split('\n').flatMap((line) => /^\| (`[^|]+) \|/.exec(line)?.[1] ?? []);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual(Object.keys(acts).toSorted());
  });

  it('A sign-out that a client app requests has the client app', async () => {
    const { user, browser, clientId: client } = await connectApp();
    await browser.post('/logout', { client_id: client });
    await expectNewest('sign-out.completed', { ...byMember(user, {}), client });
  });

  it('Signing out without a session is no event', async () => {
    const before = await newest('sign-out.completed');
    await visitor().post('/logout');
    expect(await newest('sign-out.completed')).toEqual(before);
  });

  it.each(['copied', 'invalid', 'disabled'] as const)('A passkey that is refused as %s is an event', async (reason) => {
    const { user, authenticator } = await withPasskey();
    if (reason === 'disabled') await disable(user);
    if (reason === 'copied') {
      await signInWith(visitor(), authenticator, { odd: { counter: 9 } });
      await signInWith(visitor(), authenticator, { odd: { counter: 3 } });
    } else
      await signInWith(visitor(), authenticator, {
        odd: reason === 'invalid' ? { origin: 'https://evil.example' } : {},
      });
    const details = { method: 'passkey', attempts: 1, reason };
    await expectNewest('sign-in.refused', { ...byMember(user, details), ...actor('visitor') });
  });

  it.each([
    { kind: 'google', provider: 'google' },
    { kind: 'oidc', provider: 'acme-oidc' },
    { kind: 'saml', provider: 'acme-saml' },
  ] as const)('A sign-in by $provider to a disabled account is an event of its member', async ({ kind, provider }) => {
    const { user, who } = await linked(kind);
    await disable(user);
    await comeBy(providers, visitor(), kind, who);
    const details = { method: kind, attempts: 1, provider, reason: 'disabled' };
    await expectNewest('sign-in.refused', { ...byMember(user, details), ...actor('visitor') });
  });

  it('Attack: a SAML response with a foreign signature is an event without a member', async () => {
    const attempt = await beginSaml(shop.foyer, { browser: visitor() });
    const forged = await answerXml(providers, attempt, { signer: providers.otherSigner() });
    await arrive(shop.foyer, attempt, forged);
    expect(await newest('sign-in.refused')).toMatchObject({
      ...actor('visitor'),
      member: null,
      address: here.address,
      details: { method: 'saml', attempts: 1, provider: 'acme-saml', reason: 'invalid' },
    });
  });

  it('A visitor who turns back at the provider is no event', async () => {
    const before = await newest('sign-in.refused');
    providers.answerAs('refuse', 'google');
    const browser = visitor();
    const back = await sendRequest(await pressButton(browser, 'google'), { redirect: 'manual' });
    expect((await browser.get(locationOf(back), { from: 'cross-site' })).status).toBe(303);
    expect(await newest('sign-in.refused')).toEqual(before);
  });

  // At the end, because the erasure moves the clock beyond the life of a provider's responses.
  it.each(Object.keys(acts) as EventType[])('%s has actor, member, client app, address and device', async (type) => {
    await expectNewest(type, await acts[type]());
  });
});
