import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import { accounts, beginMethodAt, confirmMethod, methodData } from '../billing/checkout/card-steps.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import { giftShop, giftStops } from './tour-gift.ts';
import { buy } from './tour-membership.ts';
import { pauseShop, pauseStops } from './tour-pause.ts';
import { trialShop, trialStops } from './tour-plan-trial.ts';
import { seatsShop, seatsStops } from './tour-seats.ts';
import { shareShop, withdrawalStops } from './tour-withdrawal.ts';

const membershipPath = '/settings/membership';
const dayMs = 24 * 60 * 60_000;

const europe = { currency: 'eur', consumers: { withdrawalDays: 14, afterYear: 'monthly' as const } };

/**
 * Shops in the EU: one adds the tax to its amounts, one contains it and gives back what is unused. And one with pauses,
 * one with seats, one with gift codes, one with plans that begin with free days.
 */
export const euroShops = {
  added: () => ({
    PAYMENT_METHODS: 'card,sepa_debit,ideal,bancontact',
    PROFILE_FIELDS: 'nickname,middle_name,website,profile',
    PLANS_FILE: plansWith({ ...europe, tax: { automatic: true, behaviour: 'exclusive' } }),
  }),
  contained: () => ({
    PLANS_FILE: plansWith({ currency: 'eur', cancel: 'prorated', tax: { automatic: true, behaviour: 'inclusive' } }),
  }),
  pause: pauseShop,
  share: shareShop,
  seats: seatsShop,
  gift: giftShop,
  trial: trialShop,
};

export type EuroShop = keyof typeof euroShops;

export interface MoneyTour {
  euroShop(which: EuroShop): Promise<Shop>;
  become(page: Page, browser: Browser, url: string): Promise<void>;
}

type Prepare = (user: User, house: Shop) => Promise<unknown>;

const berlin = { line1: 'Unter den Linden 77', postalCode: '10117', city: 'Berlin', country: 'DE' };
/** A company in another country than the shop: it owes the tax itself. */
const paris = {
  company: 'Boulangerie Lindqvist SARL',
  postalCode: '75001',
  city: 'Paris',
  country: 'FR',
  vatId: 'FR12345678901',
};

const details =
  (entered: typeof berlin | typeof paris = berlin): Prepare =>
  async (user, { foyer, customerOf }) => {
    await customerOf(user);
    const { membership } = foyer.app;
    const known = await membership.findDetails(user.id);
    await membership.saveDetails(user, { ...known.details, ...entered });
  };

const all =
  (...steps: readonly Prepare[]): Prepare =>
  async (user, house) => {
    for (const step of steps) await step(user, house);
  };

const buyer = (...codes: readonly string[]): Prepare => all(details(), ...codes.map(buy));
const withCard: Prepare = all(details(), (user, { saveCard }) => saveCard(user));
/** What is left of the year is more than a month of the higher plan. */
const withCredit = buyer('y-900', 'm-499');

/** The member has entered an account, and the bank has not answered yet. */
const debit =
  (iban: string): Prepare =>
  async (user, house) => {
    await details()(user, house);
    const browser = await house.foyer.signedIn(user);
    const begun = await beginMethodAt(browser, '/plan-purchase/10/addPayment');
    confirmMethod(house, begun, { data: methodData.debit(iban) });
    await browser.post(begun.action, { ...begun.fields, setupIntent: begun.setupIntent });
  };

/** All members of the shop have one clock. */
const later =
  (ms: number): Prepare =>
  async (user, { foyer, standIn }) => {
    standIn.engine.advance(ms);
    await foyer.app.membership.refresh(user.id);
  };

/** The renewal has begun, and its invoice is a draft. */
const renewing: Prepare = async (user, house) => {
  await buyer('m-99')(user, house);
  const { periodEnd } = (await house.foyer.app.membership.getMembership(user.id)) ?? {};
  await later((periodEnd ?? 0) - house.standIn.engine.nowMs() + 5 * 60_000)(user, house);
};

const code: Prepare = async (user, { foyer, promotion, stripe }) => {
  const known = await stripe.promotionCodes.list({ code: 'WELCOME20' });
  if (known.data.length === 0) await promotion('WELCOME20', { percent_off: 20, duration: 'once' });
  const { membership } = foyer.app;
  await membership.choose(user, membership.catalogue.byCode('y-5000') ?? membership.catalogue.defaultPlan);
  await membership.applyPromotion(user, 'WELCOME20', { ip: '127.0.0.1' });
};

type Where = {
  at: string;
  prepare?: Prepare | undefined;
  onwards?: ((page: Page, house: Shop) => Promise<unknown>) | undefined;
};

/** In the order of the payment element. */
const methods = ['Card', 'SEPA Direct Debit', 'iDEAL', 'Bancontact'] as const;
type Method = (typeof methods)[number];

/** The steps of these stops; most have the structure of others, with other words. */
function moneySteps({ euroShop, become }: MoneyTour) {
  async function visit(page: Page, which: EuroShop, { at, prepare, onwards }: Where): Promise<Shop> {
    const house = await euroShop(which);
    const user = await house.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await prepare?.(user, house);
    await become(page, await house.foyer.signedIn(user), house.foyer.url);
    await page.goto(house.foyer.url + at);
    await onwards?.(page, house);
    return house;
  }
  return {
    stop(name: string, which: EuroShop, where: Where): Stop {
      return { name: `money, ${name}`, otherWords: true, open: (page) => visit(page, which, where) };
    },
    /** The page after a form, as its button sends it. */
    after(name: string, which: EuroShop, where: Where): Stop {
      const open = async (page: Page) => {
        await visit(page, which, where);
        await andLoad(page, () => page.locator('.dialog-card form.form button').first().click());
      };
      return { name: `money, ${name}`, otherWords: true, open };
    },
    /** The payment element with one of its methods. */
    method(label: Method, onwards?: (page: Page) => Promise<unknown>): Stop {
      const open = async (page: Page) => {
        await visit(page, 'added', { at: '/plan-purchase/10/addPayment', prepare: details() });
        await page.locator('form.needs-script button:enabled').waitFor();
        // Its name is in the language of the page.
        await page.locator('form.needs-script [type=radio]').nth(methods.indexOf(label)).check();
        await onwards?.(page);
      };
      return { name: `money, ${onwards ? 'back from the bank of' : 'payment by'} ${label}`, otherWords: true, open };
    },
  };
}

function quoteStops({ stop }: ReturnType<typeof moneySteps>): Stop[] {
  const at = '/plan-purchase/13';
  return [
    stop('plan step of a sign-up', 'added', { at: '/post-signup/plan' }),
    stop('plan cards with tax added', 'added', { at: '/plan-purchase?type=2' }),
    stop('plan cards with tax contained', 'contained', { at: '/plan-purchase?type=1', prepare: buyer('m-99') }),
    stop('billing details', 'added', { at: `${at}/billingDetails` }),
    stop('quote with tax added', 'added', { at, prepare: details() }),
    stop('quote with tax contained', 'contained', { at, prepare: withCard }),
    stop('quote with tax and a code', 'added', { at, prepare: all(withCard, code) }),
    stop('quote of an upgrade', 'added', { at, prepare: buyer('m-99') }),
    stop('quote of a change', 'added', { at: '/plan-purchase/10', prepare: buyer('y-5000') }),
    stop('quote with reverse charge', 'added', {
      at,
      prepare: all(details(paris), (user, house) => house.saveCard(user)),
    }),
  ];
}

function membershipStops({ stop, after }: ReturnType<typeof moneySteps>): Stop[] {
  const at = membershipPath;
  return [
    stop('order with tax added', 'added', { at, prepare: buyer('y-900') }),
    stop('order with tax contained', 'contained', { at, prepare: buyer('m-99') }),
    stop('order with reverse charge', 'added', { at, prepare: all(details(paris), buy('m-99')) }),
    stop('tile on the home', 'added', { at: '/settings', prepare: buyer('y-900') }),
    stop('change payment method', 'added', { at: `${at}/card`, prepare: debit(accounts.succeeds) }),
    stop('withdrawal', 'added', { at: `${at}/withdraw`, prepare: buyer('y-900') }),
    stop('withdrawal after an upgrade', 'added', { at: `${at}/withdraw`, prepare: buyer('m-99', 'm-499') }),
    after('withdrawn', 'added', { at: `${at}/withdraw`, prepare: buyer('y-900') }),
    stop('cancel with a right to withdraw', 'added', { at: `${at}/cancel`, prepare: buyer('m-99') }),
    after('cancelled', 'added', { at: `${at}/cancel`, prepare: buyer('m-99') }),
    stop('resume', 'added', {
      at: `${at}/resume`,
      prepare: all(buyer('m-99'), (user, { foyer }) => foyer.app.membership.cancel(user)),
    }),
    stop('keep', 'added', { at: `${at}/resume`, prepare: buyer('m-499', 'm-99') }),
    stop('cancel with a refund', 'contained', { at: `${at}/cancel`, prepare: all(buyer('m-99'), later(dayMs)) }),
    after('ended with a refund', 'contained', { at: `${at}/cancel`, prepare: all(buyer('m-99'), later(dayMs)) }),
    stop('credit', 'added', { at, prepare: withCredit }),
    stop('cancel with credit', 'added', { at: `${at}/cancel`, prepare: withCredit }),
    stop('delete the account with a refund', 'contained', {
      at: '/settings/delete-account',
      prepare: all(buyer('m-99'), later(dayMs)),
    }),
    stop('delete the account with credit', 'added', { at: '/settings/delete-account', prepare: withCredit }),
    stop('debit waits', 'added', { at, prepare: debit(accounts.succeedsLate) }),
    stop('debit refused', 'added', { at, prepare: all(debit(accounts.failsLate), later(3_600_000)) }),
  ];
}

/** Cancelling without a password, by a mailed link. */
function mailedStops({ euroShop }: MoneyTour): Stop[] {
  const path = '/cancel-membership';
  const link = async (page: Page, which: EuroShop) => {
    const { foyer, ...house } = await euroShop(which);
    const user = await foyer.addUser({ givenName: 'Vera' });
    await buyer('m-99')(user, { foyer, ...house });
    await foyer.browser().post(path, { email: user.email });
    const { values } = (await foyer.mails(user.email)).findLast(({ template }) => template === 'cancel-link') ?? {};
    await page.goto(String(new Map(Object.entries(values ?? {})).get('cancelUrl')));
  };
  const stop = (name: string, open: Stop['open']): Stop => ({
    name: `money, cancel by mail, ${name}`,
    otherWords: true,
    open,
  });
  const templates = [
    'receipt',
    'renewal-notice',
    'withdrawal-received',
    'payment-failed',
    'plan-cancelled',
    'plan-not-resumed',
    'plan-trial-began',
    'plan-trial-ends',
    'refund-made',
  ];
  return [
    ...['', '?sent'].map((search) =>
      stop(search === '' ? 'address' : 'sent', async (page) =>
        page.goto((await euroShop('added')).foyer.url + path + search),
      ),
    ),
    stop('link', (page) => link(page, 'added')),
    stop('link with a refund', (page) => link(page, 'contained')),
    stop('done', async (page) => {
      await link(page, 'added');
      await andLoad(page, () => page.locator('button.danger').click());
    }),
    ...templates.map((name) => ({
      name: `money, mail ${name}`,
      otherWords: true as const,
      open: async (page: Page, lang: string) =>
        page.goto(`${(await euroShop('added')).foyer.url}/sandbox/mails/${name}?mails=${lang}`),
    })),
  ];
}

/** Pages with tax, the rights of consumers, and other methods than cards. */
export function moneyStops(tour: MoneyTour): Stop[] {
  const steps = moneySteps(tour);
  const { stop, method } = steps;
  return [
    stop('sandbox billing page', 'added', { at: '/sandbox/billing', prepare: debit(accounts.succeedsLate) }),
    ...quoteStops(steps),
    ...methods.map((label) => steps.method(label)),
    method('iDEAL', async (page) => {
      await page.locator('[autocomplete=name]:visible').fill('Vera Lindqvist');
      await page.locator('[autocomplete=email]:visible').fill('vera@example.com');
      await page.locator('form.needs-script button').click();
      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.waitForURL(/setup_intent=seti_/);
    }),
    ...membershipStops(steps),
    ...mailedStops(tour),
    ...pauseStops((name, where) => stop(name, 'pause', where)),
    ...withdrawalStops((name, where) => stop(name, 'share', where)),
    ...seatsStops((name, where) => stop(name, 'seats', where)),
    ...giftStops((name, where) => stop(name, 'gift', where)),
    ...trialStops((name, where) => stop(name, 'trial', where)),
    stop('optional fields of the profile', 'added', { at: '/settings/profile' }),
    // The last of their shop: all its members have waited for them.
    stop('cancel while a renewal is charged', 'added', { at: `${membershipPath}/cancel`, prepare: renewing }),
    stop('upgrade while a renewal is charged', 'added', { at: '/plan-purchase/12', prepare: renewing }),
    stop('trial is over', 'contained', { at: membershipPath, prepare: all(details(), later(8 * dayMs)) }),
  ];
}
