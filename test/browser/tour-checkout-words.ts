import type { Page } from 'playwright-core';
import type Stripe from 'stripe';
import { consumeCard } from '../../server/billing/cards/card-entry.ts';
import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { toPlanId } from '../support/ids.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import { buy, type ShopTour } from './tour-membership.ts';

const from = { ip: '127.0.0.1' };
const percent = { percent_off: 10, duration: 'once' } as const;

/** What else the step PLAN says: its pages stand in the tour already, with other words on them. */
export function checkoutWordsStops({ shop, become }: ShopTour): Stop[] {
  const names = { givenName: 'Vera', familyName: 'Lindqvist' };
  async function visit(page: Page, at: string, prepare?: (user: User, house: Shop) => Promise<unknown>): Promise<void> {
    const house = await shop();
    const user = await house.foyer.addUser(names);
    await prepare?.(user, house);
    await become(page, await house.foyer.signedIn(user), house.foyer.url);
    await page.goto(house.foyer.url + at);
  }
  const stop = (name: string, at: string, prepare?: (user: User, house: Shop) => Promise<unknown>): Stop => ({
    name: `plan, ${name}`,
    otherWords: true,
    open: (page) => visit(page, at, prepare),
  });
  /** Each code is there once. */
  const known = new Set<string>();
  async function code(
    { promotion }: Shop,
    name: string,
    coupon: Stripe.CouponCreateParams = percent,
    more?: Parameters<Shop['promotion']>[2],
  ): Promise<void> {
    if (!known.has(name)) await promotion(name, coupon, more);
    known.add(name);
  }
  /** The page on which a code was refused. */
  const refused = (name: string, typed: string, prepare: (house: Shop, user: User) => Promise<unknown>): Stop => ({
    name: `plan, promotion code: ${name}`,
    otherWords: true,
    async open(page) {
      await visit(page, '/plan-purchase/13', (user, house) => prepare(house, user));
      await page.locator('.fold summary').click();
      await page.locator('[name=promo]').fill(typed);
      await andLoad(page, () => page.locator('form[data-in-place]').evaluate((form: HTMLFormElement) => form.submit()));
      await page.locator('.field-error, .notice.error').first().waitFor();
    },
  });
  const tooOften = async (user: User, { foyer }: Shop) => {
    const { deps } = foyer.app.membership;
    while ((await consumeCard(deps, user, from.ip)).allowed);
  };
  return [
    stop('an upgrade', '/plan-purchase/13', buy('m-99')),
    stop('a cheaper one', '/plan-purchase/10', buy('y-5000')),
    stop('owned', '/plan-purchase/13', buy('y-5000')),
    stop('unfinished', '/plan-purchase/13', async (user, { foyer, saveCard }) => {
      const { membership } = foyer.app;
      await saveCard(user, 'pm_card_authenticationRequired');
      const { plan } = await membership.choose(
        user,
        membership.catalogue.byId(toPlanId('13')) ?? membership.catalogue.defaultPlan,
      );
      const { dueCents } = await membership.quote(user, plan, null);
      await membership.confirm(user, { planId: plan.id, dueCents }, from);
    }),
    {
      name: 'plan, too many attempts',
      otherWords: true,
      async open(page) {
        await visit(page, '/plan-purchase/13', async (user, house) => {
          await house.saveCard(user);
          await tooOften(user, house);
        });
        await andLoad(page, () => page.locator('form.actions.even button').first().click());
        await page.locator('.notice.error').waitFor();
      },
    },
    {
      name: 'plan, Stripe does not answer',
      otherWords: true,
      async open(page) {
        await visit(page, '/plan-purchase/13', async (user, { customerOf, standIn }) => {
          await customerOf(user);
          standIn.fault('error', (_method, path) => path.endsWith('/create_preview'));
        });
        await page.locator('.notice.error').waitFor();
      },
    },
    refused('expired', 'LASTWEEK', async (house) => {
      const { engine } = house.standIn;
      const expires_at = Math.floor(engine.nowMs() / 1000) + 2;
      await code(house, 'LASTWEEK', percent, { expires_at });
      await engine.advance(3_000);
    }),
    refused('used up', 'ONCE', async (house) => {
      if (known.has('ONCE')) return;
      await code(house, 'ONCE', percent, { max_redemptions: 1 });
      const { membership } = house.foyer.app;
      const first = await house.foyer.addUser();
      await house.saveCard(first);
      const { plan } = await membership.choose(first, membership.catalogue.defaultPlan);
      await membership.applyPromotion(first, 'ONCE', from);
      const { promotion } = (await membership.purchase(first.id)) ?? {};
      const { dueCents } = await membership.quote(first, plan, promotion ?? null);
      await membership.confirm(first, { planId: plan.id, dueCents }, from);
    }),
    refused('in another currency', 'EUROS', (house) =>
      code(house, 'EUROS', { amount_off: 1_000, currency: 'eur', duration: 'once' }),
    ),
    refused('for a first purchase', 'NEWCOMER', async (house, user) => {
      await code(house, 'NEWCOMER', percent, { restrictions: { first_time_transaction: true } });
      await buy('m-99')(user, house);
    }),
    refused('not for this plan', 'SCALEUP', async (house) => {
      const { data } = await house.stripe.prices.list({ lookup_keys: ['y-8000'] });
      await code(house, 'SCALEUP', { ...percent, applies_to: { products: [String(data[0]?.product)] } });
    }),
    refused('minimum', 'BIGSPENDER', (house) =>
      code(house, 'BIGSPENDER', percent, {
        restrictions: { minimum_amount: 600_000, minimum_amount_currency: 'usd' },
      }),
    ),
    {
      name: 'plan, promotion code: a second',
      otherWords: true,
      async open(page) {
        await visit(page, '/plan-purchase/13', async (user, house) => {
          const { membership } = house.foyer.app;
          await code(house, 'FIRST');
          await membership.ensure(user, 7);
          await membership.choose(user, membership.catalogue.byId(toPlanId('13')) ?? membership.catalogue.defaultPlan);
        });
        // In another tab the first is applied meanwhile.
        await page.locator('.fold summary').click();
        await page.locator('[name=promo]').fill('FIRST');
        const form = page.locator('form[data-in-place]');
        await andLoad(page, () =>
          form.evaluate(async (element: HTMLFormElement) => {
            await fetch(element.action, {
              method: 'POST',
              body: new URLSearchParams([...new FormData(element)].map(([name, value]) => [name, String(value)])),
              redirect: 'manual',
            });
            element.submit();
          }),
        );
        await page.locator('.notice.error').waitFor();
      },
    },
  ];
}
