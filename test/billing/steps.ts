import { loadPlans } from '../../config/plans.ts';
import { type BillingModule, createCatalogue, createStripe, type Plan, syncPlans } from '../../server/billing/index.ts';
import { findUser, type User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { plansByDays } from '../support/plans.ts';
import type { Backend } from '../support/stores.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

/** Stripe's test cards, as far as tests need them. */
export const cards = {
  visa: '4242424242424242',
  mastercard: '5555555555554444',
  declined: '4000000000000002',
  insufficientFunds: '4000000000009995',
  /** Saves, then every charge is declined. */
  chargeDeclined: '4000000000000341',
  /** Authentication at saving, not later. */
  authenticatesOnce: '4000002500003155',
  authenticatesAlways: '4000002760003184',
} as const;

/** For files in which many members save cards, all from one address. */
export const manyCards = { CARD_LIMIT_ADDRESS: '1000', CARD_LIMIT_OVERALL: '1000' };

export const from = { ip: '203.0.113.7' };

/** A Foyer that sells plans, and the stand-in for Stripe that it asks; the catalogue is there. */
export interface Shop {
  foyer: TestFoyer;
  stripe: TestStripe;
  membership: BillingModule;
  plan(code: string): Plan;
  /** Confirms a card as the browser does, and makes it the one that is charged. */
  saveCard(user: User, number?: string): Promise<void>;
  /** Only the browser's half. @returns the setup intent's id */
  confirmCard(user: User, number?: string): Promise<string>;
  /** Chooses, sees what is due, and confirms that. */
  buy(user: User, code: string): ReturnType<BillingModule['confirm']>;
  userNow(user: User): Promise<User>;
  /** Moves Stripe's clock and the product's. */
  passTime(ms: number): void;
  close(): Promise<void>;
}

export const dayMs = 24 * 60 * 60_000;

/**
 * @param environment `PLANS_FILE`: by default, plans by days, so that a test may let exactly one period pass
 * @param options of the stand-in for Stripe
 */
export async function startShop(
  backend: Backend,
  environment: Record<string, string> = {},
  options: Parameters<typeof startStripe>[0] = {},
): Promise<Shop> {
  const plansFile = environment.PLANS_FILE ?? plansByDays();
  const catalogue = createCatalogue(loadPlans(plansFile));
  const stripe = await startStripe(options);
  await syncPlans(createStripe({ secretKey: stripeKeys.secretKey, apiUrl: stripe.url }), catalogue);
  const foyer = await startFoyer(backend, { ...stripe.environment(), ...environment, PLANS_FILE: plansFile });
  const { membership } = foyer.app;
  const plan = (code: string) => {
    const found = catalogue.byCode(code);
    if (!found) throw new Error(`the catalogue has no ${code}`);
    return membership.catalogue.byId(found.id) ?? found;
  };
  async function confirmCard(user: User, number: string = cards.visa): Promise<string> {
    const begun = await membership.beginCard(user, from);
    if (begun.kind !== 'begun') throw new Error(`no card could be begun: ${begun.kind}`);
    stripe.engine.call({
      method: 'POST',
      path: `/v1/setup_intents/${begun.setupIntentId}/confirm`,
      params: {
        client_secret: begun.clientSecret,
        payment_method_data: {
          type: 'card',
          card: { number, exp_month: 12, exp_year: new Date(stripe.engine.nowMs()).getUTCFullYear() + 3, cvc: '123' },
          billing_details: { name: 'Ada Lovelace', address: { postal_code: '10115' } },
        },
      },
      as: 'publishable',
    });
    return begun.setupIntentId;
  }
  return {
    foyer,
    stripe,
    membership,
    plan,
    confirmCard,
    async saveCard(user, number) {
      const id = await confirmCard(user, number);
      const asked = stripe.engine.find(id);
      if (asked?.status === 'requires_action') stripe.engine.authenticate(id, 'succeed');
      const saved = await membership.keepCard(user, id);
      if (saved.kind !== 'saved') throw new Error(`the card was not saved: ${JSON.stringify(saved)}`);
    },
    async buy(user, code) {
      const { details, isMissing } = await membership.findDetails(user.id);
      if (isMissing) {
        const { customerId } = await membership.ensure(user, 7);
        const customer = await stripe.client().customers.retrieve(customerId ?? '');
        const { country, postal_code } = (customer.deleted ? null : customer.address) ?? {};
        const place = { country: country ?? 'DE', postalCode: postal_code ?? '10115' };
        await membership.saveDetails(user, { ...details, ...place });
      }
      const { plan: chosen, promotion } = await membership.choose(user, plan(code));
      const { dueCents } = await membership.quote(user, chosen, promotion);
      return membership.confirm(user, { planId: chosen.id, dueCents }, from);
    },
    async userNow({ id }) {
      const user = await findUser(foyer.deps.database.db, id);
      if (!user) throw new Error('the member is gone');
      return user;
    },
    passTime(ms) {
      foyer.passTime(ms);
      stripe.engine.advance(ms);
    },
    async close() {
      await foyer.close();
      await stripe.close();
    },
  };
}
