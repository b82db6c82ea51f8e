import { cancelDeletionsRequestedSince } from '../../server/account/index.ts';
import { recentAuthMs } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { confirmCard } from '../billing/checkout/card-steps.ts';
import { cards, type Shop, startShop } from '../billing/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership';
const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

describe('attacks on the membership page', () => {
  let shop: Shop;
  let victim: User;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
    victim = await shop.foyer.addUser();
    await shop.membership.ensure(victim, 7);
    await shop.saveCard(victim);
    await shop.buy(victim, 'm-99');
  });
  afterAll(() => shop?.close());

  const stored = () => shop.membership.getMembership(victim.id);
  const charged = async () => (await shop.membership.invoices(victim)).reduce((sum, one) => sum + one.paidCents, 0);
  const acts: [string, (browser: Browser) => Promise<Response>][] = [
    ['cancel', (browser) => browser.post(`${path}/cancel`)],
    ['resume', (browser) => browser.post(`${path}/resume`)],
    ['pay', (browser) => browser.post(`${path}/pay`)],
    ['card', (browser) => browser.post(`${path}/card`, { setupIntent: 'seti_1' })],
  ];

  it('Another user sees and changes nothing of the membership, whatever the address or the form contains', async () => {
    const eve = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(eve);
    const [invoice] = await shop.membership.invoices(victim);
    const victims = await stored();
    const names = {
      userId: victim.id,
      customer: victims?.customerId ?? '',
      subscription: victims?.subscriptionId ?? '',
    };
    const html = await (
      await browser.get(`${path}?${new URLSearchParams({ ...names, invoice: invoice?.id ?? '' })}`)
    ).text();
    for (const text of [victim.email, invoice?.number ?? '?', invoice?.url ?? '?', '4242', 'Starter']) {
      expect([text, html.includes(text)]).toEqual([text, false]);
    }
    for (const act of ['cancel', 'resume', 'pay']) {
      const answer = await browser.post(`${path}/${act}`, names);
      expect([act, answer.headers.get('location')]).toEqual([act, `${path}#membership:nothing`]);
    }
    expect(await stored()).toEqual(victims);
  });

  it('A card that another member confirmed does not become the attacker’s, and the member’s card does not change', async () => {
    const victimBrowser = await shop.foyer.signedIn(victim);
    const begun = await victimBrowser.postJson(`${path}/card/setup`, {});
    const { clientSecret } = (await begun.json()) as { clientSecret: string };
    const setupIntent = confirmCard({ standIn: shop.stripe }, clientSecret, cards.mastercard);
    const before = await stored();
    const eve = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(eve);
    const answer = await browser.post(`${path}/card`, { setupIntent });
    expect(answer.status).toBe(400);
    expect((await shop.membership.getMembership(eve.id))?.card ?? null).toBeNull();
    expect((await stored())?.card).toEqual(before?.card);
  });

  it.each(acts)('The action %s with an old sign-in asks for re-authentication and does nothing', async (_name, act) => {
    const browser = await shop.foyer.signedIn(victim);
    const [before, cents] = [await stored(), await charged()];
    shop.foyer.passTime(recentAuthMs + 60_000);
    const answer = await act(browser);
    expect(answer.headers.get('location')).toMatch(/^\/re-authenticate\?redirect=/);
    expect([await stored(), await charged()]).toEqual([before, cents]);
  });

  it('A script with an old sign-in gets no client secret for a card', async () => {
    const browser = await shop.foyer.signedIn(victim);
    shop.foyer.passTime(recentAuthMs + 60_000);
    const answer = await browser.postJson(`${path}/card/setup`, {});
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toContain('seti_');
  });

  it.each([...acts, ['card/setup', (browser) => browser.post(`${path}/card/setup`)] as (typeof acts)[number]])(
    'The action %s without a session asks for a sign-in and does nothing',
    async (_name, act) => {
      const before = await stored();
      const answer = await act(shop.foyer.browser());
      expect(answer.status).toBe(303);
      expect(new URL(answer.headers.get('location') ?? '', shop.foyer.url).pathname).toBe('/');
      expect(await stored()).toEqual(before);
    },
  );

  it.each(['cancel', 'resume', 'pay', 'card', 'card/setup'])(
    'The action %s is refused when another site posts it',
    async (act) => {
      const browser = await shop.foyer.signedIn(victim);
      const before = await stored();
      const answer = await browser.post(`${path}/${act}`, {}, foreign);
      expect(answer.status).toBe(403);
      expect(await stored()).toEqual(before);
    },
  );

  it('A GET request, as a link in a mail or a picture sends it, does nothing', async () => {
    const browser = await shop.foyer.signedIn(victim);
    const before = await stored();
    for (const act of ['cancel', 'resume', 'pay', 'card']) await browser.get(`${path}/${act}`, { from: 'cross-site' });
    expect(await stored()).toEqual(before);
    expect((await browser.get(`${path}/card/setup`)).status).toBe(405);
  });

  it('Undoing a change of address restores the plan that a thief ended with the account', async () => {
    const owner = await shop.foyer.addUser();
    await shop.membership.ensure(owner, 7);
    await shop.saveCard(owner);
    await shop.buy(owner, 'm-99');
    const thief = await shop.foyer.signedIn(owner);
    expect((await thief.post('/settings/delete-account', { confirm: '1' })).status).toBe(303);
    const { db } = shop.foyer.deps.database;
    const tasks = () => db.selectFrom('billingTasks').select('kind').where('userId', '=', owner.id).execute();
    expect(await tasks()).toEqual([{ kind: 'cancel-later' }]);
    const { app, deps } = shop.foyer;
    const since = { userId: owner.id, sinceMs: 0 };
    await deps.database.transaction((trx) => cancelDeletionsRequestedSince(trx, app.deletion, since));
    expect(await tasks()).toEqual([{ kind: 'keep' }]);
    expect((await shop.foyer.browser().post('/sign-in', { username: owner.email, password })).status).toBe(303);
  });
});
