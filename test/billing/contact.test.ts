import { diffWithStripe } from '../../server/billing/index.ts';
import { attachCustomer, memberKey } from '../../server/billing/subscription/ensure-customer.ts';
import { insertMembership } from '../../server/billing/subscription/membership-store.ts';
import type { User } from '../../server/users/index.ts';
import { toNormalisedEmail, toStripeCustomerId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { manyCards, type Shop, startShop } from './steps.ts';

const minuteMs = 60_000;

describe.each(backends)('an address that Stripe refuses, on $name', (backend) => {
  let shop: Shop;
  const updates: string[] = [];
  beforeAll(async () => {
    shop = await startShop(backend, manyCards);
    shop.stripe.observe(({ method, path, status }) => {
      if (method === 'POST' && /^\/v1\/customers\/\w+$/.test(path)) updates.push(`${path} ${status}`);
    });
  });
  afterAll(() => shop?.close());

  const customerOf = async ({ id }: User) =>
    shop.stripe.engine.find((await shop.membership.getMembership(id))?.customerId ?? '') as {
      email: string | null;
      name: string | null;
    };
  const differences = async ({ id }: User) =>
    (await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left
      .filter(({ userId }) => userId === id)
      .map(({ kind, detail }) => [kind, detail]);
  const rename = async ({ id }: User, email: string) => {
    const { db } = shop.foyer.deps.database;
    await db
      .updateTable('users')
      .set({ email: toNormalisedEmail(email), updatedAt: shop.foyer.deps.now() })
      .where('id', '=', id)
      .execute();
  };
  let members = 0;
  /** Browsers and the sign-up accept it (HTML, section 4.10.5.1.5); Stripe does not. */
  const doubleDot = () => {
    members += 1;
    return `ada..${members}@example.com`;
  };

  it.each([
    ['with two dots in its name', doubleDot],
    // A sign-up refuses it; a member of another system or an older release may have it.
    ['without a dot in its domain (name@com)', () => 'name@com'],
  ])('The plan pages work and the member can buy when Stripe refuses an address %s', async (_which, newAddress) => {
    const added = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(added);
    await rename(added, newAddress());
    const user = await shop.userNow(added);
    for (const path of ['/plan-purchase/10', '/plan-purchase/14', '/post-signup/plan']) {
      expect((await browser.get(path)).status).toBe(200);
    }
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await customerOf(user)).toMatchObject({ email: null, name: expect.stringContaining('Ada') });
    const { data } = await shop.stripe.client().customers.list({ limit: 100 });
    expect(data.filter(({ metadata }) => metadata.foyer_user === user.id)).toHaveLength(1);
    expect(await differences(user)).toEqual([['address refused', 'email_invalid']]);
  });

  it('The next plan page writes the address when a server was killed after it created the customer', async () => {
    const user = await shop.foyer.addUser({ email: 'killed@example.com' });
    const { deps } = shop.membership;
    const { id } = await shop.stripe.client().customers.create({ metadata: { [memberKey]: user.id } });
    await insertMembership(deps.database.db, user.id, deps.now());
    await attachCustomer(deps, user.id, toStripeCustomerId(id));
    expect(await customerOf(user)).toMatchObject({ email: null });
    expect((await (await shop.foyer.signedIn(user)).get('/plan-purchase/10')).status).toBe(200);
    expect(await customerOf(user)).toMatchObject({ email: user.email, name: expect.stringContaining('Ada') });
  });

  it('A refused address is listed as a difference and logged without the address', async () => {
    const user = await shop.foyer.addUser({ email: doubleDot() });
    await shop.membership.ensure(user, 7);
    expect(await differences(user)).toEqual([['address refused', 'email_invalid']]);
    const lines = shop.foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes('email address refused by Stripe'));
    expect(lines.some((line) => line.includes(user.id))).toBe(true);
    expect(lines.join('\n')).not.toContain(user.email);
  });

  it('Stripe gets the address again only after the member’s data have changed', async () => {
    const user = await shop.foyer.addUser({ email: doubleDot() });
    await shop.membership.ensure(user, 7);
    updates.length = 0;
    for (let turns = 0; turns < 3; turns += 1) await shop.membership.work();
    expect(updates).toEqual([]);
    // Another one that is refused, too.
    await rename(user, doubleDot());
    await shop.membership.work();
    await shop.membership.work();
    expect(updates.map((line) => line.split(' ')[1])).toEqual(['400', '200']);
    const email = `mended${members}@example.com`;
    await rename(user, email);
    await shop.membership.work();
    expect(await customerOf(user)).toMatchObject({ email });
    expect(await differences(user)).toEqual([]);
    updates.length = 0;
    await shop.membership.work();
    expect(updates).toEqual([]);
  });

  it('The plan page answers while Stripe is away, and the minute job writes the address later', async () => {
    const user = await shop.foyer.addUser();
    const isUpdate = (method: string, path: string) => method === 'POST' && /^\/v1\/customers\/\w+$/.test(path);
    shop.stripe.fault('error', isUpdate);
    const browser = await shop.foyer.signedIn(user);
    expect((await browser.get('/plan-purchase/10')).status).toBe(200);
    expect(await customerOf(user)).toMatchObject({ email: null });
    shop.passTime(minuteMs);
    await shop.membership.work();
    expect(await customerOf(user)).toMatchObject({ email: user.email });
    expect(await differences(user)).toEqual([]);
  });
});
