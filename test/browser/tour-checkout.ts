import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import { importPartnerDeals, type User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { toPlanId } from '../support/ids.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import { buy, type ShopTour } from './tour-membership.ts';

/** The step PLAN at its places, up to the payment. */
export function checkoutStops({ shop, become }: ShopTour): Stop[] {
  const names = { givenName: 'Vera', familyName: 'Lindqvist' };
  async function visit(page: Page, at: string, prepare?: (user: User, house: Shop) => Promise<unknown>): Promise<void> {
    const house = await shop();
    const user = await house.foyer.addUser(names);
    await prepare?.(user, house);
    await become(page, await house.foyer.signedIn(user), house.foyer.url);
    await page.goto(house.foyer.url + at);
  }
  const open = (at: string, prepare?: (user: User, house: Shop) => Promise<unknown>) => (page: Page) =>
    visit(page, at, prepare);
  const sell = ({ email }: User, { foyer }: Shop) =>
    foyer.stores.database.transaction((trx) => importPartnerDeals(trx, [{ email, tier: 2 }], Date.now()));
  /** There is one code for all languages and widths. */
  let promotion: Promise<void> | undefined;
  return [
    { name: 'plan, trial', open: open('/post-signup/plan') },
    { name: 'plan, summary', open: open('/post-signup/plan?planHash=starter-monthly') },
    {
      name: 'plan, with a promotion code and a card',
      open: open('/plan-purchase/13', async (user, house) => {
        promotion ??= house.promotion('WELCOME20', { percent_off: 20, duration: 'once' });
        await promotion;
        await house.saveCard(user);
        const { membership } = house.foyer.app;
        const plan = membership.catalogue.byId(toPlanId('13'));
        if (!plan) throw new Error('no plan 13');
        await membership.choose(user, plan);
        await membership.applyPromotion(user, 'welcome20', { ip: '127.0.0.1' });
      }),
    },
    {
      name: 'plan, promotion code refused',
      async open(page, lang) {
        await visit(page, '/plan-purchase/13');
        const t = translator(lang);
        await page.getByText(t('checkout.promo.open')).click();
        await page.getByLabel(t('checkout.promo.label')).fill('nonsense');
        // As without scripts: the refusal is a page.
        await andLoad(page, () =>
          page.locator('form[data-in-place]').evaluate((form: HTMLFormElement) => form.submit()),
        );
        await page.getByText(t('checkout.promo.unknown')).waitFor();
      },
    },
    {
      name: 'plan, something else is due',
      async open(page) {
        await visit(page, '/plan-purchase/13', (user, { saveCard }) => saveCard(user));
        await page.locator('form.actions.even [name=dueCents]').evaluate((due: HTMLInputElement) => {
          due.value = '1';
        });
        await andLoad(page, () =>
          page.locator('form.actions.even').evaluate((form: HTMLFormElement) => form.requestSubmit()),
        );
        await page.locator('.notice').waitFor();
      },
    },
    { name: 'plan, free', open: open('/plan-purchase/1') },
    { name: 'plan, change', open: open('/plan-purchase?type=2') },
    { name: 'plan, partner’s deal', open: open('/plan-purchase-appsumo/?plan=102', sell) },
    {
      name: 'plan, partner’s deal over a paid plan',
      open: open('/plan-purchase-appsumo/?plan=102', async (user, house) => {
        await buy('m-99')(user, house);
        await sell(user, house);
      }),
    },
    {
      name: 'membership, partner’s deal waits',
      open: open('/settings/membership', sell),
    },
    {
      name: 'membership, partner’s deal taken',
      open: open('/settings/membership', async (user, house) => {
        await buy('m-99')(user, house);
        await sell(user, house);
        await house.foyer.app.membership.takeDeal(user);
      }),
    },
    { name: 'plan, no partner’s deal', open: open('/plan-purchase-appsumo/?plan=102') },
    {
      name: 'plan, completed and signed out',
      async open(page) {
        await page.goto(`${(await shop()).foyer.url}/signup/completed/m-99`);
      },
    },
  ];
}
