import type { Router } from 'express';
import type { Transaction } from 'kysely';
import type { Logger } from '../http/index.ts';
import { consumeLimits, rateLimits } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import { type Metrics, noMetrics, type StripeCustomerId, type UserId } from '../shared/index.ts';
import type { Database, KeyValueStore, Schema } from '../store/index.ts';
import type { CreatedUser, User } from '../users/index.ts';
import { beginCard, findReturned, makeDefault, saveCard, saveCardToken } from './cards/card.ts';
import { cardsAlone, type OfferedMethods } from './cards/payment-methods.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import { createPrices } from './catalogue/prices.ts';
import type { BillingDeps, CardLimitSettings } from './deps.ts';
import { findDetailsState, saveDetails } from './details/save-details.ts';
import { createGifts } from './gifts/redeem-gift.ts';
import { reconcile } from './jobs/comparison.ts';
import { startBillingJobs } from './jobs/jobs.ts';
import { runMaintenance } from './jobs/maintenance.ts';
import { createCustomerAtOnce } from './jobs/new-customers.ts';
import { listInvoices } from './orders/invoices.ts';
import { listOrders } from './orders/order-store.ts';
import { payOpenInvoice } from './orders/pay-open-invoice.ts';
import { confirmPurchase, getPurchaseResult } from './purchase/confirm-purchase.ts';
import { payWithCard } from './purchase/pay-with-card.ts';
import { findCode } from './purchase/promotion-codes.ts';
import { applyPromotion, choosePlan } from './purchase/purchase.ts';
import { dropPromotion, findOpenPurchase, toPurchase } from './purchase/purchase-store.ts';
import { quoteOnPage, quotePlan } from './purchase/quote-plan.ts';
import { listTrialDays } from './purchase/trial-offer.ts';
import { type BillingService, ReadLimitError, StripeUnavailableError } from './results.ts';
import type { ReconcileOptions, ReconcileResult } from './stripe/reconcile.ts';
import type { StripeClient } from './stripe/stripe-client.ts';
import { cancel, resume } from './subscription/acts.ts';
import { findRenewalBefore, loadPendingRenewal } from './subscription/changeable-subscription.ts';
import { ensureCustomer } from './subscription/ensure-customer.ts';
import { chooseFreePlan, claimDeal, findPartnerDealPlan } from './subscription/free-plans.ts';
import { findKeptRenewal } from './subscription/kept-renewal.ts';
import { findStanding } from './subscription/membership-store.ts';
import { createPauses } from './subscription/pause.ts';
import {
  confirmEndOfDeletion,
  endProrated,
  quoteEndOfDeletion,
  quoteProratedEnd,
} from './subscription/prorated-end.ts';
import { requestCustomer } from './subscription/request-customer.ts';
import { syncMember } from './subscription/sync-from-stripe.ts';
import { withdraw } from './subscription/withdrawal.ts';
import { findWithdrawal } from './subscription/withdrawal-rules.ts';
import { createPaymentProgress, withUserLock } from './user-lock.ts';
import { createWebhooks } from './webhooks/stripe-webhooks.ts';

interface MembershipSettings {
  publicUrl: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  log: Logger;
  metrics?: Metrics;
  catalogue: Catalogue;
  /** undefined: no plans are sold. */
  stripe: StripeClient | undefined;
  /** Its signing secret; undefined: there are no webhooks. */
  webhookSecret?: string | undefined;
  /** By default, cards. */
  methods?: OfferedMethods;
  limits: CardLimitSettings;
  trialKey: Buffer;
  /** Milliseconds since the epoch: Stripe's time, which the sandbox can advance. */
  now: () => number;
}

export interface BillingModule extends BillingService {
  catalogue: Catalogue;
  /** For the rest of this module: webhooks, the reconcile job, the JSON API. */
  deps: BillingDeps;
  keepToken: (user: User, token: string, from: { ip: string }) => ReturnType<typeof saveCardToken>;
  makeDefault: (user: User, paymentMethodId: string) => ReturnType<typeof makeDefault>;
  /** @param customerId of the caller: a code may be limited to one customer */
  findCode: (typed: string, customerId: StripeCustomerId | undefined) => ReturnType<typeof findCode>;
  /** In the transaction that makes a user a member: notes their customer and trial, if plans are sold. */
  requestCustomer(trx: Transaction<Schema>, created: Pick<CreatedUser, 'user' | 'flow'>): Promise<void>;
  /** Right after that transaction, in the background; the minute job does what this leaves. */
  createRequestedCustomer(userId: UserId): void;
  /** The route of Stripe's webhooks: before the body parsers and the guard against cross-site posts. */
  webhookRoutes(router: Router): void;
  /** Runs what is due; every minute. */
  work(): Promise<void>;
  /** Compares everything with Stripe and repairs it; every day. @throws {StripeUnavailableError} */
  reconcile(options?: ReconcileOptions): Promise<ReconcileResult>;
  /** Starts both jobs, in one process at a time; does nothing if no plans are sold. */
  start(): void;
  /** Resolves when the running work is done. */
  stop(): Promise<void>;
}

const notSold: StripeClient = async () => {
  throw new StripeUnavailableError('no plans are sold: STRIPE_SECRET_KEY is not set');
};

/** The dependencies of the rules, for callers without the module's pages and jobs. */
export function membershipDeps({
  stripe,
  webhookSecret: _,
  metrics,
  methods = cardsAlone,
  ...settings
}: MembershipSettings): BillingDeps {
  const client = stripe ?? notSold;
  return {
    ...settings,
    methods,
    metrics: metrics ?? noMetrics,
    stripe: client,
    prices: createPrices(client, settings.catalogue, settings.now),
  };
}

/** The prices of plans for users. */
const createQuotes = (
  deps: BillingDeps,
  readBy: <T>(userId: UserId, read: () => Promise<T>) => Promise<T>,
): Pick<BillingService, 'quote' | 'quoteOnPage' | 'listTrialDays'> => ({
  quote: (user, plan, promotion) => readBy(user.id, () => quotePlan(deps, user, { plan, promotion })),
  quoteOnPage: (user, plan, promotion) => readBy(user.id, () => quoteOnPage(deps, user, { plan, promotion })),
  async listTrialDays(user, plans) {
    // Only these ask Stripe, for a saved card.
    if (!plans.some(({ trialDays }) => trialDays !== null)) return new Map();
    const membership = await findStanding(deps.database, user.id);
    return readBy(user.id, () => listTrialDays(deps, user, { membership, plans }));
  },
});

/** The acts that pay: others can see that one of them runs. */
function createPayments(
  deps: BillingDeps,
  alone: <T>(user: Pick<User, 'id'>, act: () => Promise<T>) => Promise<T>,
): Pick<BillingService, 'confirm' | 'payWithCard' | 'outcome' | 'isPaying' | 'untilPaid'> {
  const { run, ...progress } = createPaymentProgress(deps.database);
  const pay = <T>(user: User, act: () => Promise<T>) => run(user.id, () => alone(user, act));
  return {
    ...progress,
    confirm: (user, announced, { ip }) => pay(user, () => confirmPurchase(deps, { user, announced, ip })),
    payWithCard: (user, entered, { ip }) => pay(user, () => payWithCard(deps, { user, ip, ...entered })),
    outcome: (user) => pay(user, () => getPurchaseResult(deps, user)),
  };
}

/** Of a rush of sign-ups, the others wait for the minute job. */
const createdAtOnce = 10;

/** Plans, purchases, cards and orders: one set of rules behind pages, calls and jobs. */
export function createBillingModule(settings: MembershipSettings): BillingModule {
  const { stripe, webhookSecret } = settings;
  const deps = membershipDeps(settings);
  const { database, catalogue } = deps;
  const webhooks = createWebhooks(deps);
  let stopWork: (() => Promise<void>) | undefined;
  const creating = new Set<Promise<void>>();
  const readBy = async <T>(userId: UserId, read: () => Promise<T>): Promise<T> => {
    const decision = await consumeLimits(deps.kv, rateLimits.billingRead, { account: userId });
    if (!decision.allowed) throw new ReadLimitError(decision.retryAfterMs);
    return read();
  };
  const alone = <T>(user: Pick<User, 'id'>, act: () => Promise<T>) => withUserLock(database, user.id, act);
  return {
    ...createPayments(deps, alone),
    ...createPauses(deps, { readBy, alone }),
    ...createGifts(deps, { alone }),
    sold: stripe !== undefined,
    catalogue,
    deps,
    async requestCustomer(trx, { user, flow }) {
      const { days, postSignUpDays } = catalogue.trial;
      if (stripe) await requestCustomer(trx, deps, { user, days: flow === 'sign-up' ? days : postSignUpDays });
    },
    createRequestedCustomer(userId) {
      if (!stopWork || creating.size >= createdAtOnce) return;
      const running = createCustomerAtOnce(deps, userId)
        .catch((error: unknown) => deps.log.warn({ err: error, member: userId }, 'could not create a customer at once'))
        .finally(() => creating.delete(running));
      creating.add(running);
    },
    ensure: (user, trialDays) => alone(user, () => ensureCustomer(deps, user, trialDays)),
    getMembership: (userId) => findStanding(database, userId),
    refresh: (userId) => readBy(userId, () => syncMember(deps, userId)),
    purchase: async (userId) => toPurchase(deps, await findOpenPurchase(database.db, userId)),
    choose: (user, plan) => alone(user, () => choosePlan(deps, user, plan)),
    applyPromotion: (user, typed, from) => alone(user, () => applyPromotion(deps, user, { typed, ip: from.ip })),
    removePromotion: (user) => alone(user, () => dropPromotion(deps, user.id)),
    ...createQuotes(deps, readBy),
    renewalBefore: (user, plan) => readBy(user.id, () => findRenewalBefore(deps, user, plan)),
    renewalIfKept: (userId) => readBy(userId, () => findKeptRenewal(deps, userId)),
    pendingRenewal: (userId) => readBy(userId, () => loadPendingRenewal(deps, userId)),
    takeFree: (user, plan, announcedEndsAt) => alone(user, () => chooseFreePlan(deps, user, { plan, announcedEndsAt })),
    findDeal: (user) => findPartnerDealPlan(deps, user),
    takeDeal: (user, announcedEndsAt) => alone(user, () => claimDeal(deps, user, announcedEndsAt)),
    findDetails: (userId) => findDetailsState({ db: database.db, catalogue }, userId),
    saveDetails: (user, details) => alone(user, () => saveDetails(deps, user, details)),
    beginCard: (user, from) => beginCard(deps, user, from),
    findReturned: (user, setupIntentId) => readBy(user.id, () => findReturned(deps, user, setupIntentId)),
    keepCard: (user, setupIntentId) => alone(user, () => saveCard(deps, user, setupIntentId)),
    keepToken: (user, token, from) => alone(user, () => saveCardToken(deps, user, { token, ip: from.ip })),
    makeDefault: (user, paymentMethodId) => alone(user, () => makeDefault(deps, user, paymentMethodId)),
    findCode: (typed, customerId) => findCode(deps, typed, customerId),
    payUnpaid: (user, from) => alone(user, () => payOpenInvoice(deps, user, from)),
    cancel: (user, choice) => alone(user, () => cancel(deps, user, choice)),
    findWithdrawal: async (userId) => findWithdrawal(await listOrders(database.db, userId), catalogue, deps.now()),
    quoteEnd: (userId, act) =>
      readBy(userId, () => (act === 'deletion' ? quoteEndOfDeletion : quoteProratedEnd)(deps, userId)),
    confirmDeletion: (userId, announced) => confirmEndOfDeletion(deps, userId, announced),
    endProrated: (user, announced) => alone(user, () => endProrated(deps, user, announced)),
    withdraw: (user, announced = { days: 0, payments: 1 }) => alone(user, () => withdraw(deps, user, announced)),
    resume: (user, announced) => alone(user, () => resume(deps, user, announced)),
    invoices: (user) => readBy(user.id, () => listInvoices(deps, user)),
    webhookRoutes(router) {
      if (webhookSecret !== undefined) webhooks.routes(router, webhookSecret);
    },
    work: () => runMaintenance(deps, webhooks),
    reconcile: (options) => reconcile(deps, options),
    start() {
      if (stripe) stopWork ??= startBillingJobs(deps, webhooks);
    },
    async stop() {
      const stopJobs = stopWork;
      stopWork = undefined;
      await Promise.all([stopJobs?.(), ...creating]);
    },
  };
}
