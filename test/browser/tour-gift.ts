import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { giftPath, giftPlans, makeGift } from '../billing/gift-steps.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import { buy } from './tour-membership.ts';

const membershipPath = '/settings/membership';

/** A shop whose members redeem gift codes. */
export const giftShop = () => ({ PLANS_FILE: giftPlans() });

const codeIn = async (house: Shop): Promise<string> => (await makeGift(house, house.standIn.engine.nowMs())).code;

async function redeemed(user: User, house: Shop): Promise<void> {
  await house.foyer.app.membership.redeemGift(user, await codeIn(house), { ip: '127.0.0.1' });
}

type Prepare = (user: User, house: Shop) => Promise<unknown>;

/** The page for codes, its refusals, and the membership with a gift. @param stop a page of a new member of this shop */
export function giftStops(
  stop: (
    name: string,
    where: { at: string; prepare?: Prepare; onwards?: (page: Page, house: Shop) => Promise<unknown> },
  ) => Stop,
): Stop[] {
  const send = async (page: Page, code: string) => {
    await page.locator('[name=code]').fill(code);
    await andLoad(page, () => page.locator('main form.form button').first().click());
  };
  return [
    stop('gift code', { at: `${giftPath}?code=7K2M-9QXD-4TRB-W1HC-8NVE-5JZA` }),
    stop('gift code, unknown', { at: giftPath, onwards: (page) => send(page, '7K2M-9QXD') }),
    stop('gift code, with a paid plan', {
      at: giftPath,
      prepare: buy('m-99'),
      onwards: async (page, house) => send(page, await codeIn(house)),
    }),
    stop('step PLAN with gift codes', { at: '/post-signup/plan' }),
    stop('plans with gift codes', { at: '/plan-purchase?type=2' }),
    stop('membership without a plan, with gift codes', { at: membershipPath }),
    stop('membership with a gift', { at: membershipPath, prepare: redeemed }),
    stop('home with a gift', { at: '/settings', prepare: redeemed }),
    stop('plans with a gift', { at: '/plan-purchase?type=2', prepare: redeemed }),
    stop('another plan during a gift', { at: '/plan-purchase/13', prepare: redeemed }),
  ];
}
