import type { Router } from 'express';
import type { Logger } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import { type Metrics, noMetrics } from '../metrics/index.ts';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import type { UserId } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { findUser, type User } from '../users/index.ts';
import { cancel, findStanding, resume } from './acts.ts';
import { beginCard, makeDefault, saveCard, saveCardToken } from './card.ts';
import type { Catalogue } from './catalogue.ts';
import type { BillingDeps, CardLimitSettings } from './deps.ts';
import { ensureCustomer, ensureTrialDays } from './ensure-customer.ts';
import { chooseFreePlan, claimDeal, findPartnerDealPlan } from './free-plans.ts';
import { listInvoices } from './invoices.ts';
import { reconcile, startBillingJobs } from './jobs.ts';
import { runMaintenance } from './maintenance.ts';
import { payOpenInvoice } from './pay-open-invoice.ts';
import { createPrices } from './prices.ts';
import { findCode } from './promotions.ts';
import {
  applyPromotion,
  choosePlan,
  confirmPurchase,
  getPurchaseResult,
  removePromotion,
  toPurchase,
} from './purchase.ts';
import { findOpenPurchase } from './purchase-store.ts';
import { quotePlan } from './quote.ts';
import type { ReconcileOptions, ReconcileResult } from './reconcile.ts';
import { type BillingService, StripeUnavailableError } from './results.ts';
import { applyDueChanges } from './scheduled-change.ts';
import type { StripeClient } from './stripe-client.ts';
import { syncMember } from './sync-from-stripe.ts';
import { withUserLock } from './user-lock.ts';
import { createWebhooks } from './webhooks.ts';

export interface MembershipSettings {
  publicUrl: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  log: Logger;
  metrics?: Metrics;
  catalogue: Catalogue;
  /** undefined: no plans are sold. */
  stripe: StripeClient | undefined;
  /** Its signing secret; undefined: Stripe tells nothing by itself. */
  webhookSecret?: string | undefined;
  limits: CardLimitSettings;
  trialKey: Buffer;
  /** Milliseconds since the epoch: Stripe's time, which in the sandbox can be moved. */
  now: () => number;
}

export interface BillingModule extends BillingService {
  catalogue: Catalogue;
  /** For the rest of this room: webhooks, the reconcile job, the JSON API. */
  deps: BillingDeps;
  keepToken: (user: User, token: string, from: { ip: string }) => ReturnType<typeof saveCardToken>;
  makeDefault: (user: User, paymentMethodId: string) => ReturnType<typeof makeDefault>;
  /** @param customerId of who asks: a code may be theirs alone */
  findCode: (typed: string, customerId: string | undefined) => ReturnType<typeof findCode>;
  /** Brings changes of plans that fall due soon to Stripe. */
  convertDue(): Promise<number>;
  /** Where Stripe's webhooks come in: before whatever reads bodies or refuses posts from elsewhere. */
  webhookRoutes(router: Router): void;
  /** Does what falls due by itself; done every minute. */
  work(): Promise<void>;
  /** Compares everything with Stripe and makes it equal; done every hour. @throws {StripeUnavailableError} */
  reconcile(options?: ReconcileOptions): Promise<ReconcileResult>;
  /** From now on both are done by themselves, in one process at a time; where no plans are sold nothing is. */
  start(): void;
  /** Resolves when what was under way is done. */
  stop(): Promise<void>;
}

const notSold: StripeClient = async () => {
  throw new StripeUnavailableError('no plans are sold: STRIPE_SECRET_KEY is not set');
};

/** What the rules stand on, for who runs none of the room's pages and jobs. */
export function membershipDeps({ stripe, webhookSecret: _, metrics, ...settings }: MembershipSettings): BillingDeps {
  const client = stripe ?? notSold;
  return {
    ...settings,
    metrics: metrics ?? noMetrics,
    stripe: client,
    prices: createPrices(client, settings.catalogue, settings.now),
  };
}

/** Plans, purchases, cards and orders: one set of rules behind pages, calls and jobs. */
export function createBillingModule(settings: MembershipSettings): BillingModule {
  const { stripe, webhookSecret } = settings;
  const deps = membershipDeps(settings);
  const { database, catalogue } = deps;
  const webhooks = createWebhooks(deps);
  let stopWork: (() => Promise<void>) | undefined;
  const readBy = async <T>(userId: UserId, read: () => Promise<T>): Promise<T> => {
    // Nobody uses up what Stripe answers to all members.
    const decision = await consumeLimits(deps.kv, rateLimits.billingRead, { account: userId });
    if (!decision.allowed) throw new StripeUnavailableError('this member reads too often');
    return read();
  };
  const alone = <T>(user: Pick<User, 'id'>, act: () => Promise<T>) => withUserLock(database, user.id, act);
  return {
    sold: stripe !== undefined,
    catalogue,
    deps,
    settleTrial: (user, trialDays) => ensureTrialDays(deps, user, trialDays),
    ensure: (user, trialDays) => alone(user, () => ensureCustomer(deps, user, trialDays)),
    getMembership: (userId) => findStanding(database, userId),
    refresh: (userId) => readBy(userId, () => syncMember(deps, userId)),
    purchase: async (userId) => toPurchase(deps, await findOpenPurchase(database.db, userId)),
    choose: (user, plan) => alone(user, () => choosePlan(deps, user, plan)),
    applyPromotion: (user, typed, from) => alone(user, () => applyPromotion(deps, user, typed, from)),
    removePromotion: (user) => alone(user, () => removePromotion(deps, user)),
    quote: (user, plan, promotion) => readBy(user.id, () => quotePlan(deps, user, plan, promotion)),
    confirm: (user, announced, from) => alone(user, () => confirmPurchase(deps, user, announced, from)),
    outcome: (user) => alone(user, () => getPurchaseResult(deps, user)),
    takeFree: (user, plan) => alone(user, () => chooseFreePlan(deps, user, plan)),
    findDeal: (user) => findPartnerDealPlan(deps, user),
    takeDeal: (user) => alone(user, () => claimDeal(deps, user)),
    beginCard: (user, from) => beginCard(deps, user, from),
    keepCard: (user, setupIntentId) => alone(user, () => saveCard(deps, user, setupIntentId)),
    keepToken: (user, token, from) => alone(user, () => saveCardToken(deps, user, token, from)),
    makeDefault: (user, paymentMethodId) => alone(user, () => makeDefault(deps, user, paymentMethodId)),
    findCode: (typed, customerId) => findCode(deps, typed, customerId),
    payUnpaid: (user, from) => alone(user, () => payOpenInvoice(deps, user, from)),
    cancel: (user) => alone(user, () => cancel(deps, user)),
    resume: (user) => alone(user, () => resume(deps, user)),
    invoices: (user) => readBy(user.id, () => listInvoices(deps, user)),
    convertDue: () => applyDueChanges(deps),
    webhookRoutes(router) {
      if (webhookSecret !== undefined) webhooks.routes(router, webhookSecret);
    },
    work: () => runMaintenance(deps, webhooks),
    reconcile: (options) => reconcile(deps, webhooks, options),
    start() {
      if (stripe) stopWork ??= startBillingJobs(deps, webhooks);
    },
    stop: async () => stopWork?.(),
  };
}

/** For jobs and webhooks, which know a member by their id. */
export const findUserById = ({ database }: BillingDeps, userId: UserId): Promise<User | undefined> =>
  findUser(database.db, userId);
