import { demoMember, seedSandbox } from '../../sandbox/index.ts';
import { findUserByIdentifier, findUserRecord } from '../../server/users/index.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

it('The demo member has a plan and keeps it after the first request to Stripe', async () => {
  const { deps, app } = shop.foyer;
  const { catalogue } = app.membership;
  for (let starts = 0; starts < 2; starts += 1) await seedSandbox({ ...deps, catalogue }, 'http://127.0.0.1:4001');
  const demo = () => findUserByIdentifier(deps.database.db, { email: demoMember.email });
  const user = await demo();
  if (!user) throw new Error('there is no demo member');
  expect(catalogue.byId(user.planId)).toMatchObject({ kind: 'free' });
  expect(await findUserRecord(deps.database.db, user.id)).toMatchObject({ totalRewards: '5' });
  const browser = shop.foyer.browser();
  const { email: username, password } = demoMember;
  expect((await browser.post('/sign-in', { username, password })).status).toBe(303);
  // As docs/getting-started.md says.
  expect((await browser.get('/')).headers.get('location')).toBe('/sandbox/search');
  expect((await browser.get('/plan-purchase/13')).status).toBe(200);
  expect(await app.membership.getMembership(user.id)).toMatchObject({ status: 'trialing' });
  expect((await demo())?.planId).toBe(user.planId);
});
