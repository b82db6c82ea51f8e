import * as oidc from 'openid-client';
import { listEvents } from '../../server/audit/index.ts';
import { standing } from '../account/membership-steps.ts';
import { cliOf } from '../support/cli.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { hiddenFields } from './pause-steps.ts';
import { askForSeats, confirmOnPage, plansWithSeats, startSeatsShop, withSeats } from './seats-steps.ts';
import { cards, type Shop } from './steps.ts';

describe('the number of seats for client apps and callers', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startSeatsShop({}, { pause: { months: [1] } });
  });
  afterAll(() => shop?.close());

  async function signInTo(user: Parameters<typeof tokensFor>[2], scope: string) {
    const scopes = ['openid', 'membership'];
    const client = await relyingParty(shop.foyer, await shop.foyer.addClient({ scopes, idTokenClaims: true }), scope);
    const tokens = await tokensFor(client, shop.foyer.browser(), user, { scope });
    const info = () => oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
    return { claims: tokens.claims(), info };
  }

  it('A client app gets the claim seats in the id token and at userinfo, which follows a change at once', async () => {
    const { user, browser } = await withSeats(shop, 2);
    const { claims, info } = await signInTo(user, 'openid membership');
    expect(claims).toMatchObject({ plan: '10', seats: 2 });
    expect(await info()).toMatchObject({ plan: '10', seats: 2 });
    await askForSeats(browser, '4');
    await confirmOnPage(browser, '10');
    expect(await info()).toMatchObject({ seats: 4 });
  });

  it('One seat is a number, too', async () => {
    const { user } = await withSeats(shop, 1);
    expect((await signInTo(user, 'openid membership')).claims).toMatchObject({ plan: '10', seats: 1 });
  });

  it('There is no claim seats without the scope membership, without a plan and for a plan without seats', async () => {
    const { user } = await withSeats(shop, 2);
    expect((await signInTo(user, 'openid')).claims).not.toHaveProperty('seats');
    const other = await shop.foyer.addUser();
    await shop.membership.ensure(other, 7);
    expect((await signInTo(other, 'openid membership')).claims).not.toHaveProperty('seats');
    await shop.saveCard(other, cards.visa);
    await shop.buy(other, 'm-899');
    const { claims } = await signInTo(other, 'openid membership');
    expect(claims).toMatchObject({ plan: '14' });
    expect(claims).not.toHaveProperty('seats');
  });

  it('The JSON API says the bounds of a plan, and the seats of member, subscription and order', async () => {
    const { user, browser } = await withSeats(shop, 3);
    const read = async (at: string, body?: object) =>
      (await (body ? browser.postJson(at, body) : browser.get(at))).json();
    expect(await read('/user/info')).toMatchObject({ plan: '10', seats: 3 });
    const { customerId } = await standing(shop, user);
    expect(await read(`/customer/${customerId}`)).toMatchObject({ subscription: [{ plan_name: 'm-99', seats: 3 }] });
    const { Items: [starter] = [] } = (await read('/user/listplanWithId', { planId: '10' })) as { Items?: unknown[] };
    expect(starter).toMatchObject({ planAmount: 99, seats: { min: 1, max: 50 } });
    const { Items: [scale] = [] } = (await read('/user/listplanWithId', { planId: '14' })) as { Items?: unknown[] };
    expect(scale).not.toHaveProperty('seats');
  });

  it('The operator’s commands name the bounds of a plan and the seats of a member', async () => {
    const { user } = await withSeats(shop, 3);
    const foyer = cliOf(shop.foyer, { PLANS_FILE: plansWithSeats() });
    expect((await foyer('user', 'show', user.email)).out).toMatch(
      /^Plan {6}Starter \(10, m-99\)\nSeats {5}3\nGives {5}showcase:1/m,
    );
    expect((await foyer('user', 'show', user.email, '--json')).json()).toMatchObject({ plan: '10', seats: 3 });
    const listed = (await foyer('plans', 'list')).out;
    expect(listed).toMatch(/^10 +m-99 +Starter +paid +monthly +99\.00 usd per seat, 1 to 50 +starter-monthly/m);
    expect(listed).toMatch(/^14 +m-899 +Scale +paid +monthly +899\.00 usd +scale-monthly/m);
    const plans = (await foyer('plans', 'list', '--json')).json<unknown[]>();
    expect(plans).toContainEqual(expect.objectContaining({ id: '12', amount: 49_900, seats: { min: 2, max: 10 } }));
  });

  it('The audit trail has each number of seats once', async () => {
    const { user, browser } = await withSeats(shop, 2);
    await askForSeats(browser, '4');
    await confirmOnPage(browser, '10');
    await shop.membership.refresh(user.id);
    await shop.foyer.app.audit.seal();
    const events = await listEvents(shop.foyer.deps.database.db, { userId: user.id, limit: 50 });
    const changes = events.filter(({ type, details }) => type === 'membership.changed' && details.plan === '10');
    expect(changes.map(({ details }) => details).toReversed()).toEqual([
      { plan: '10', status: 'active', seats: 2 },
      { plan: '10', status: 'active', seats: 4 },
    ]);
  });

  it('A pause keeps the number, and the plan goes on with it at its price', async () => {
    const { user, browser } = await withSeats(shop, 3);
    const html = await (await browser.get('/settings/membership/pause')).text();
    await browser.post('/settings/membership/pause', { ...hiddenFields(html), months: '1' });
    expect(await standing(shop, user)).toMatchObject({ seats: 3, nextCharge: { amountCents: 29_700 } });
  });
});
