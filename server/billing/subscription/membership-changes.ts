import type { Transaction } from 'kysely';
import { type MembershipMail, toNotification } from '../../../views/mail/membership-notification.ts';
import { resolveLanguage, translator } from '../../http/index.ts';
import type { Mail } from '../../messages/index.ts';
import { dayMs, type PlanId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { findUserRecord, type User } from '../../users/index.ts';
import { type Catalogue, findPlan, isNext, type Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import type { Order } from '../orders/order.ts';
import type { StripeSnapshot } from '../stripe/read-stripe-snapshot.ts';
import { toUnusedTime } from '../stripe/stripe-invoices.ts';
import { type ChargeMail, toMailValues } from './charge-mail.ts';
import type { RefundAtEnd } from './coming-acts.ts';
import type { Membership, NextCharge, PendingChange, SavedCard } from './membership.ts';
import { currentPaidPlan, graceEndsAt, trialUntil } from './membership-state.ts';
import { recordNotification } from './membership-store.ts';
import { listTrialMails } from './plan-trial-mails.ts';

/** Notice before a trial ends, as Stripe has it; for a short one in its second half. */
export const trialNoticeMs = 3 * dayMs;

/** Payments before the user was known become orders without a mail. */
const historyMs = 3 * dayMs;

/** The state that was read, and its changes. */
interface MembershipChange {
  before: Membership;
  after: Membership;
  /** The user before the change, with the former plan. */
  user: User;
  /** The present plan. */
  planId: PlanId | null;
  /** The orders that were just written. */
  orders: readonly Order[];
  facts: Pick<StripeSnapshot, 'customer' | 'subscriptions' | 'invoices' | 'unpaid' | 'debited' | 'taxPercents'>;
  /** A payment is under way, which may replace a scheduled change for a moment. */
  paying: boolean;
  /** The specification's totalRewards. */
  rewards: string;
  nowMs: number;
}

export const cardText = (card: Pick<SavedCard, 'brand' | 'lastFour'> | null) =>
  card && { cardType: card.brand, lastFour: card.lastFour };

function findPostalCode({ customer, subscriptions }: MembershipChange['facts']): string | undefined {
  const methods = [
    ...subscriptions.map((subscription) => subscription.default_payment_method),
    customer?.invoice_settings.default_payment_method,
  ];
  for (const method of methods) {
    const code = typeof method === 'object' ? method?.billing_details.address?.postal_code : undefined;
    if (code) return code;
  }
  return customer?.address?.postal_code ?? undefined;
}

/** Of a plan that is sold by the seat. */
const seatsIn = ({ chosenSeats: seats }: Plan): { seats?: number } => (seats === undefined ? {} : { seats });

/** Of a plan that is charged by days. */
const everyDays = ({ period }: Plan): { everyDays?: number } =>
  period?.interval === 'day' ? { everyDays: period.count } : {};

/** The same of the plan that the user pays, whose price may be older than the catalogue's. */
function toOwnEveryDays(plan: Plan, { price, pricedPlanId }: Membership): { everyDays?: number } {
  if (!price || pricedPlanId !== plan.id) return everyDays(plan);
  return price.interval === 'day' ? { everyDays: price.intervalCount } : {};
}

function receipts(
  { before, after, orders, user, facts, rewards, nowMs }: MembershipChange,
  catalogue: Catalogue,
): MembershipMail[] {
  return orders.flatMap((order): MembershipMail[] => {
    const plan = findPlan(catalogue, order.planId, order.seats);
    const history = before.syncedAt === null && order.orderedAt < nowMs - historyMs;
    if (!plan?.type || history) return [];
    const zipcode = findPostalCode(facts);
    const taxPercent = facts.taxPercents?.get(order.invoiceId);
    return [
      {
        template: 'receipt',
        once: `receipt:${order.invoiceId}`,
        values: {
          email: user.email,
          fullName: `${user.givenName} ${user.familyName}`.trim(),
          ...(zipcode !== undefined && { zipcode }),
          ...cardText(order.card),
          currency: order.currency,
          totalAmount: order.paidCents,
          rewards,
          planName: plan.name,
          planType: plan.type,
          ...seatsIn(plan),
          ...toOwnEveryDays(plan, after),
          planAmount: order.planAmountCents ?? plan.amountCents,
          orderDate: order.orderedAt,
          ...(order.renewsAt !== null && { renewDate: order.renewsAt }),
          ...(order.beginRequestedAt !== null && { beginRequestedAt: order.beginRequestedAt }),
          discount: order.discountCents,
          creditUsed: order.usedCreditCents,
          ...(order.debtCents && { debt: order.debtCents }),
          ...toUnusedTime(facts.invoices, order.invoiceId),
          tax: order.taxCents ?? 0,
          ...(taxPercent !== undefined && { taxPercent }),
          ...(order.invoiceNumber !== null && { invoiceNumber: order.invoiceNumber }),
          ...(order.invoiceUrl !== null && { invoiceUrl: order.invoiceUrl }),
        },
      },
    ];
  });
}

/** A bank has refused the debit of a purchase, which ends. */
function debitFailed(
  { planId, invoiceId, amountCents }: PendingChange,
  { after, facts }: MembershipChange,
  catalogue: Catalogue,
): MembershipMail[] {
  const planName = catalogue.byId(planId)?.name;
  if (planName === undefined) return [];
  const currency = facts.debited?.invoice.currency ?? catalogue.currency;
  const values = { planName, amountCents, currency, ...cardText(after.card), ended: true as const };
  return [{ template: 'payment-failed', once: `debit-failed:${invoiceId}`, values }];
}

/** Each failed attempt of an invoice sends one mail, however often it is read. */
function unpaid(change: MembershipChange, catalogue: Catalogue): MembershipMail[] {
  const { after, facts } = change;
  if (after.pending?.failed) return debitFailed(after.pending, change, catalogue);
  if (!after.unpaid) return [];
  const { invoiceId, amountCents, attempts, why, nextAttemptAt } = after.unpaid;
  const plan = catalogue.byId(after.pricedPlanId) ?? catalogue.byId(after.paidPlanId);
  if (!plan) return [];
  const keptUntil = graceEndsAt(after, catalogue);
  const values = {
    planName: plan.name,
    amountCents,
    currency: facts.unpaid?.invoice.currency ?? catalogue.currency,
    ...(keptUntil !== undefined && { keptUntil }),
  };
  const once = `unpaid:${invoiceId}:${attempts}:${why}`;
  if (why === 'action-required') return [{ template: 'payment-action-required', once, values }];
  const next = nextAttemptAt === null ? {} : { nextAttemptAt };
  return [{ template: 'payment-failed', once, values: { ...values, ...cardText(after.card), ...next } }];
}

/** From when on the user is notified of the trial's end; null: there is none. */
export function trialNoticeStart(membership: Membership): number | null {
  const until = trialUntil(membership);
  if (until === null) return null;
  const beganAt = membership.periodStart ?? until;
  return until - Math.min(trialNoticeMs, Math.max(0, until - beganAt) / 2);
}

function trialEnds({ after, planId, nowMs }: MembershipChange): MembershipMail[] {
  const [from, endsAt] = [trialNoticeStart(after), trialUntil(after)];
  if (from === null || endsAt === null || planId !== null || nowMs < from || nowMs >= endsAt) return [];
  const once = trialNoticeKey(after);
  return [{ template: 'trial-ends', once, values: { days: Math.ceil((endsAt - nowMs) / dayMs), endsAt } }];
}

export const trialNoticeKey = ({ subscriptionId, trialEnd }: Membership) => `trial-ends:${subscriptionId}:${trialEnd}`;

const toRefundValues = (amounts: RefundAtEnd['amounts'] | undefined) =>
  amounts && {
    currency: amounts.currency,
    refundCents: amounts.refundCents,
    ...(amounts.creditCents > 0 && { creditCents: amounts.creditCents }),
  };

/** The end of a pause and its charge, or what of it is known. */
const toPauseValues = ({ pause, nextCharge }: Membership) => ({
  resumesAt: pause?.resumesAt ?? 0,
  ...(nextCharge && { amountCents: nextCharge.amountCents, currency: nextCharge.currency }),
});

const withCharge = ({ nextCharge }: Membership): { charge?: NextCharge } => (nextCharge ? { charge: nextCharge } : {});

/** A scheduled change is reported when it changes, not while it lasts. */
function toCome({ before, after, paying }: MembershipChange, catalogue: Catalogue): ChargeMail[] {
  if (paying) return [];
  const plan = currentPaidPlan(catalogue, after);
  const changesAt = after.periodEnd;
  if (!plan || changesAt === null) return [];
  const next = findPlan(catalogue, after.nextPlanId, after.nextSeats);
  if (next) {
    if (isNext(before, next)) return [];
    const about = {
      fromPlan: plan.name,
      ...(plan.chosenSeats !== undefined && { fromSeats: plan.chosenSeats }),
      toPlan: next.name,
      ...seatsIn(next),
      ...(next.type && { toPlanType: next.type }),
      ...everyDays(next),
    };
    const { nextCharge: charge } = after;
    const { amountCents, currency } = charge ?? { amountCents: next.amountCents, currency: catalogue.currency };
    const isCharge = charge !== null && { isCharge: true as const };
    const values = { ...about, changesAt, amountCents, currency, ...isCharge };
    return [{ template: 'plan-changes', values, ...withCharge(after) }];
  }
  if (after.pause && !before.pause) {
    const values = { planName: plan.name, pausesAt: changesAt, ...toPauseValues(after) };
    return [{ template: 'plan-pauses', values, ...withCharge(after) }];
  }
  const ends = (one: Membership) => one.cancelAtPeriodEnd && one.nextPlanId === null;
  if (!ends(after) || ends(before)) return [];
  const refund = toRefundValues(after.refundAtEnd?.amounts);
  const partner = catalogue.byId(after.basePlanId);
  if (partner?.kind === 'partner') {
    const about = { fromPlan: plan.name, toPlan: partner.name, changesAt, amountCents: 0 };
    return [{ template: 'plan-changes', values: { currency: catalogue.currency, ...about, ...refund } }];
  }
  return [{ template: 'plan-cancelled', values: { planName: plan.name, endsAt: changesAt, ...refund } }];
}

const isUnpaid = ({ status, unpaid: invoice }: Membership) =>
  status === 'past_due' || status === 'unpaid' || invoice !== null;

function ended({ before, after, user, planId, nowMs }: MembershipChange, catalogue: Catalogue): ChargeMail[] {
  const had = catalogue.byId(user.planId);
  const has = catalogue.byId(planId);
  if (had?.kind !== 'paid' || has?.kind === 'paid') return [];
  if (after.pause) {
    const values = { planName: had.name, ...toPauseValues(after) };
    return [{ template: 'plan-paused', values, ...withCharge(after) }];
  }
  const isGift = had.id === after.giftPlanId && after.giftUntil !== null && after.giftUntil <= nowMs;
  const why = isGift ? 'gift' : isUnpaid(before) || isUnpaid(after) ? 'unpaid' : 'cancelled';
  return [
    {
      template: 'plan-ended',
      values: { planName: had.name, endedAt: nowMs, why, ...(has && { planNow: has.name }) },
    },
  ];
}

function card({ before, after, nowMs }: MembershipChange): MembershipMail[] {
  const [was, is] = [before.card, after.card];
  // The first card is no change, and if the customer is gone everything differs.
  if (!was || after.customerId === null || was.paymentMethodId === is?.paymentMethodId) return [];
  const about = (one: SavedCard) => ({ cardType: one.brand, lastFour: one.lastFour, atMs: nowMs });
  return is ? [{ template: 'card-changed', values: about(is) }] : [{ template: 'card-removed', values: about(was) }];
}

/** The mails after a read of Stripe. */
const listMembershipMails = (changes: MembershipChange, catalogue: Catalogue): ChargeMail[] => [
  ...receipts(changes, catalogue),
  ...unpaid(changes, catalogue),
  ...trialEnds(changes),
  ...toCome(changes, catalogue),
  ...(changes.after.triedPlanId === null ? [] : listTrialMails(changes, catalogue)),
  ...ended(changes, catalogue),
  ...card(changes),
];

/** The page that a mail links to. */
const toPageUrl = (publicUrl: string, { template }: MembershipMail) =>
  `${publicUrl}${template === 'trial-ends' ? '/plan-purchase' : '/settings/membership'}`;

/** Writes one mail, and its notification, in the caller's transaction. Disabled users get none. */
export async function notifyMembership(
  { publicUrl, outbox, now }: Pick<BillingDeps, 'publicUrl' | 'outbox' | 'now'>,
  trx: Transaction<Schema>,
  { user, mail }: { user: User; mail: ChargeMail },
): Promise<void> {
  if (user.disabledAt !== null) return;
  if (mail.once !== undefined && !(await recordNotification(trx, { userId: user.id, about: mail.once }, now()))) return;
  const lang = resolveLanguage(undefined, user.locale ?? undefined);
  const t = translator(lang);
  const about = { givenName: user.givenName, pageLink: toPageUrl(publicUrl, mail) };
  await outbox.add(trx, {
    channel: 'mail',
    to: user.email,
    lang,
    template: mail.template,
    values: { ...about, ...(mail.charge ? toMailValues({ lang, t }, mail) : mail.values) },
    // In the order of the events.
    groupId: `membership:${user.id}`,
  } as Mail);
  const notice = toNotification({ lang, t }, mail);
  if (notice) await outbox.add(trx, { channel: 'notification', userId: user.id, ...notice, category: 'membership' });
}

/** Writes the mails about changes, each once, in the transaction of the change. */
export async function notifyMembershipChange(
  deps: BillingDeps,
  trx: Transaction<Schema>,
  changes: Omit<MembershipChange, 'rewards'>,
): Promise<void> {
  const { user } = changes;
  if (user.disabledAt !== null) return;
  const rewards = changes.orders.length > 0 ? (await findUserRecord(trx, user.id))?.totalRewards : undefined;
  for (const mail of listMembershipMails({ ...changes, rewards: rewards ?? '0' }, deps.catalogue))
    await notifyMembership(deps, trx, { user, mail });
}
