import type { Router } from 'express';
import { findUser, type User } from '../account/index.ts';
import type { Logger } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import { type Metrics, noMetrics } from '../metrics/index.ts';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { cancel, resume, standingOf } from './acts.ts';
import { beginCard, keepCard, keepToken, makeDefault } from './card.ts';
import type { Catalogue } from './catalogue.ts';
import type { CardLimits, MembershipDeps } from './deps.ts';
import { ensureMembership, settleTrial } from './ensure.ts';
import { invoicesOf } from './invoices.ts';
import { oneAtATime } from './member-lock.ts';
import { createPrices } from './prices.ts';
import { findCode } from './promotions.ts';
import { applyPromotion, choose, confirm, outcome, removePromotion, toPurchase } from './purchase.ts';
import { findOpenPurchase } from './purchase-store.ts';
import { quote } from './quote.ts';
import type { Reconciled, ReconcileOptions } from './reconcile.ts';
import { BillingUnavailable, type MembershipRules } from './results.ts';
import { convertDue } from './scheduled.ts';
import type { StripeClient } from './stripe.ts';
import { syncMember } from './sync.ts';
import { payUnpaid } from './unpaid.ts';
import { lookAfterMemberships } from './upkeep.ts';
import { createWebhooks } from './webhooks.ts';
import { dealOf, takeDeal, takeFree } from './without-card.ts';
import { reconcile, workNowAndThen } from './work.ts';

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
  limits: CardLimits;
  trialKey: Buffer;
  /** Milliseconds since the epoch: Stripe's time, which in the sandbox can be moved. */
  now: () => number;
}

export interface MembershipRoom extends MembershipRules {
  catalogue: Catalogue;
  /** For the rest of this room: webhooks, the reconcile job, the JSON API. */
  deps: MembershipDeps;
  keepToken: (user: User, token: string, from: { ip: string }) => ReturnType<typeof keepToken>;
  makeDefault: (user: User, paymentMethodId: string) => ReturnType<typeof makeDefault>;
  /** @param customerId of who asks: a code may be theirs alone */
  findCode: (typed: string, customerId: string | undefined) => ReturnType<typeof findCode>;
  /** Brings changes of plans that fall due soon to Stripe. */
  convertDue(): Promise<number>;
  /** Where Stripe's webhooks come in: before whatever reads bodies or refuses posts from elsewhere. */
  webhookRoutes(router: Router): void;
  /** Does what falls due by itself; done every minute. */
  work(): Promise<void>;
  /** Compares everything with Stripe and makes it equal; done every hour. @throws {BillingUnavailable} */
  reconcile(options?: ReconcileOptions): Promise<Reconciled>;
  /** From now on both are done by themselves, in one process at a time; where no plans are sold nothing is. */
  start(): void;
  /** Resolves when what was under way is done. */
  stop(): Promise<void>;
}

const notSold: StripeClient = async () => {
  throw new BillingUnavailable('no plans are sold: STRIPE_SECRET_KEY is not set');
};

/** What the rules stand on, for who runs none of the room's pages and jobs. */
export function membershipDeps({ stripe, webhookSecret: _, metrics, ...settings }: MembershipSettings): MembershipDeps {
  const client = stripe ?? notSold;
  return {
    ...settings,
    metrics: metrics ?? noMetrics,
    stripe: client,
    prices: createPrices(client, settings.catalogue, settings.now),
  };
}

/** Plans, purchases, cards and orders: one set of rules behind pages, calls and jobs. */
export function openMembership(settings: MembershipSettings): MembershipRoom {
  const { stripe, webhookSecret } = settings;
  const deps = membershipDeps(settings);
  const { database, catalogue } = deps;
  const webhooks = createWebhooks(deps);
  let stopWork: (() => Promise<void>) | undefined;
  const readBy = async <T>(userId: string, read: () => Promise<T>): Promise<T> => {
    // Nobody uses up what Stripe answers to all members.
    const decision = await consumeLimits(deps.kv, rateLimits.billingRead, { account: userId });
    if (!decision.allowed) throw new BillingUnavailable('this member reads too often');
    return read();
  };
  const alone = <T>(user: Pick<User, 'id'>, act: () => Promise<T>) => oneAtATime(database, user.id, act);
  return {
    sold: stripe !== undefined,
    catalogue,
    deps,
    settleTrial: (user, trialDays) => settleTrial(deps, user, trialDays),
    ensure: (user, trialDays) => alone(user, () => ensureMembership(deps, user, trialDays)),
    standing: (userId) => standingOf(database, userId),
    refresh: (userId) => readBy(userId, () => syncMember(deps, userId)),
    purchase: async (userId) => toPurchase(deps, await findOpenPurchase(database.db, userId)),
    choose: (user, plan) => alone(user, () => choose(deps, user, plan)),
    applyPromotion: (user, typed, from) => alone(user, () => applyPromotion(deps, user, typed, from)),
    removePromotion: (user) => alone(user, () => removePromotion(deps, user)),
    quote: (user, plan, promotion) => readBy(user.id, () => quote(deps, user, plan, promotion)),
    confirm: (user, announced, from) => alone(user, () => confirm(deps, user, announced, from)),
    outcome: (user) => alone(user, () => outcome(deps, user)),
    takeFree: (user, plan) => alone(user, () => takeFree(deps, user, plan)),
    dealOf: (user) => dealOf(deps, user),
    takeDeal: (user) => alone(user, () => takeDeal(deps, user)),
    beginCard: (user, from) => beginCard(deps, user, from),
    keepCard: (user, setupIntentId) => alone(user, () => keepCard(deps, user, setupIntentId)),
    keepToken: (user, token, from) => alone(user, () => keepToken(deps, user, token, from)),
    makeDefault: (user, paymentMethodId) => alone(user, () => makeDefault(deps, user, paymentMethodId)),
    findCode: (typed, customerId) => findCode(deps, typed, customerId),
    payUnpaid: (user, from) => alone(user, () => payUnpaid(deps, user, from)),
    cancel: (user) => alone(user, () => cancel(deps, user)),
    resume: (user) => alone(user, () => resume(deps, user)),
    invoices: (user) => readBy(user.id, () => invoicesOf(deps, user)),
    convertDue: () => convertDue(deps),
    webhookRoutes(router) {
      if (webhookSecret !== undefined) webhooks.routes(router, webhookSecret);
    },
    work: () => lookAfterMemberships(deps, webhooks),
    reconcile: (options) => reconcile(deps, webhooks, options),
    start() {
      if (stripe) stopWork ??= workNowAndThen(deps, webhooks);
    },
    stop: async () => stopWork?.(),
  };
}

/** For jobs and webhooks, which know a member by their id. */
export const memberOf = ({ database }: MembershipDeps, userId: string): Promise<User | undefined> =>
  findUser(database.db, userId);
