import {
  CancelMembershipPage,
  ResumeMembershipPage,
  resumeTexts,
} from '../../../views/account/cancel-membership-pages.tsx';
import type { PlanStatusView } from '../../../views/account/membership-view.ts';
import { membershipPath } from '../../../views/account/tabs.ts';
import { formatAmount } from '../../../views/format.ts';
import {
  type AnnouncedEnd,
  findRefund,
  planAfterYear,
  readAnnouncedEnd,
  toFullPeriodEnd,
  toLaterAmounts,
} from '../../billing/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageAfter } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';
import { askStripe, readIfAvailable } from './ask-stripe.ts';
import { toCreditText, toMembershipView, toNextChargeView, toOwedText } from './membership-view.ts';

/** The stored membership, and its status for the user. */
async function loadStatus(r: UserRequest, deps: AccountDeps) {
  const membership = await deps.membership.getMembership(r.user.id);
  return { membership, planStatus: toMembershipView(r, deps, { membership }).status };
}

/** Tests for a pause of the user that has begun at Stripe. */
const hasPauseBegun = (status: PlanStatusView): boolean =>
  (status.kind === 'paused' && status.resumesAt !== null) || (status.kind === 'pauses' && status.hasBegun);

type Ending = Extract<PlanStatusView, { kind: 'renews' | 'changes' | 'unpaid' | 'paused' | 'pauses' | 'tries' }>;

const isEnding = (status: PlanStatusView): status is Ending =>
  ['renews', 'changes', 'unpaid', 'paused', 'pauses', 'tries'].includes(status.kind);

async function endProrated(r: UserRequest, membership: AccountDeps['membership'], announced: AnnouncedEnd) {
  const before = await membership.getMembership(r.user.id);
  const answered = await askStripe(r, () => membership.endProrated(r.user, announced));
  if ('status' in answered) return answered;
  if (answered.value === 'changed') return { status: 409, problem: { text: r.t('membership.cancel.changed') } };
  const noticeNames = {
    ended: 'refunded',
    cancelled: 'cancelled-on-notice',
    noted: 'cancel-noted',
    'no-change': 'nothing',
  } as const;
  // The credit is on the page.
  if (answered.value === 'ended' && announced.refundCents === 0) return membershipPageAfter('ended');
  return membershipPageAfter(noticeNames[answered.value], {
    cents: announced.refundCents ?? 0,
    currency: before?.price?.currency ?? membership.catalogue.currency,
  });
}

/** Why it ends at once. */
function findAtOnce(status: Ending): 'unpaid' | 'paused' | 'pause' | undefined {
  if (status.kind === 'pauses') return status.hasBegun ? 'pause' : undefined;
  if (status.kind === 'paused') return status.resumesAt === null ? 'paused' : 'pause';
  return status.kind === 'unpaid' ? 'unpaid' : undefined;
}

/** The page says until when the plan stays, or what is given back. */
const cancelPage = settingsPage({
  path: `${membershipPath}/cancel`,
  title: 'membership.cancel.title',
  guard: requireRecentAuth,
  Page: CancelMembershipPage,
  async toProps(r, deps) {
    const { membership, planStatus } = await loadStatus(r, deps);
    if (!isEnding(planStatus)) return membershipPageAfter('nothing');
    const { kind } = planStatus;
    const renewal = await readIfAvailable(r, 'settings: cancel', () => deps.membership.pendingRenewal(r.user.id));
    const atOnce = findAtOnce(planStatus);
    const { catalogue } = deps.membership;
    const isPaid = kind === 'renews' || kind === 'changes' || (kind === 'pauses' && !atOnce);
    const refund = isPaid ? await findRefund(r, deps, r.user.id) : undefined;
    return {
      plan: planStatus.plan.name,
      until: planStatus.kind === 'paused' ? null : planStatus.at,
      atOnce,
      dropsPause: kind === 'pauses',
      isTrial: kind === 'tries',
      to: planStatus.kind === 'changes' ? planStatus.to : undefined,
      // The plan without the subscription.
      after: catalogue.byId(membership?.basePlanId)?.name,
      withdrawHref: (await deps.membership.findWithdrawal(r.user.id)) && `${membershipPath}/withdraw`,
      credit: membership && toCreditText(r, membership, catalogue.currency),
      // A renewal that is being charged has it in it.
      owed: refund || renewal ? undefined : toOwedText(r, membership, catalogue.currency),
      refund,
      renewal: renewal && {
        amount: formatAmount(r.lang, renewal.amountCents, { currency: renewal.currency }),
        until: renewal.periodEnd,
        isHeld: renewal.changeableAt === null,
      },
    };
  },
  async act(r, { membership }) {
    const announced = readAnnouncedEnd(r);
    const isNow = r.field('when') === 'now';
    if (announced && !isNow) return endProrated(r, membership, announced);
    const answered = await askStripe(r, () => membership.cancel(r.user, { atOnce: isNow }));
    if ('status' in answered) return answered;
    if (answered.value === 'no-change') return membershipPageAfter('nothing');
    if (answered.value === 'noted') return membershipPageAfter('cancel-noted');
    const after = await membership.getMembership(r.user.id);
    return membershipPageAfter(after?.cancelAtPeriodEnd ? 'cancelled' : 'ended');
  },
});

/** The end of a pause now: a whole period is charged. */
async function toPauseEndProps(r: UserRequest, { membership: billing }: AccountDeps, plan: string) {
  const next = await readIfAvailable(r, 'settings: end of a pause', () => billing.quoteResumption(r.user.id));
  // The page of the membership says whether Stripe is away.
  if (!next) return membershipPath;
  const fields: Record<string, string> = { laterCents: toLaterAmounts(next) };
  const charge = toNextChargeView(r, next);
  // Credit may pay all of it.
  const order = next.amountCents > 0 ? r.t('checkout.pay', { amount: charge.amount }) : undefined;
  return { plan, at: next.at, pause: 'begun' as const, ...charge, order, fields };
}

/** Cancels a scheduled end, change or pause, or ends a pause. */
const resumePage = settingsPage({
  path: `${membershipPath}/resume`,
  title: (t, props) => t(resumeTexts(props).title),
  guard: requireRecentAuth,
  Page: ResumeMembershipPage,
  async toProps(r, deps) {
    const { membership, planStatus } = await loadStatus(r, deps);
    if ('plan' in planStatus && hasPauseBegun(planStatus)) return toPauseEndProps(r, deps, planStatus.plan.name);
    const { kind } = planStatus;
    if (kind !== 'ends' && kind !== 'changes' && kind !== 'pauses') return membershipPageAfter('nothing');
    if (planStatus.kind === 'changes' && planStatus.byMonth) return membershipPageAfter('nothing');
    const { plan } = planStatus;
    const at = membership ? toFullPeriodEnd(membership) : planStatus.at;
    const dropsRefund = membership?.refundAtEnd !== undefined;
    const to = planStatus.kind === 'changes' ? planStatus.to : undefined;
    const next = await readIfAvailable(r, 'settings: resume', () => deps.membership.renewalIfKept(r.user.id));
    const { catalogue } = deps.membership;
    const byMonth = planAfterYear(catalogue, catalogue.byId(membership?.pricedPlanId)) !== undefined;
    const fields: Record<string, string> = next ? { laterCents: toLaterAmounts(next) } : {};
    const pause = kind === 'pauses' ? ('to-come' as const) : undefined;
    const isTrial = planStatus.kind === 'ends' && planStatus.isTrial === true;
    return {
      plan: plan.name,
      at,
      to,
      pause,
      byMonth,
      isTrial,
      dropsRefund,
      ...(next && toNextChargeView(r, next)),
      fields,
    };
  },
  async act(r, { membership }) {
    const announced = r.field('laterCents') || undefined;
    const answered = await askStripe(r, () => membership.resume(r.user, announced));
    if ('status' in answered) return answered;
    if (answered.value === 'changed') return { status: 409, problem: { text: r.t('membership.resume.changed') } };
    if (answered.value === 'unpaid') return membershipPath;
    const noticeNames = { resumed: 'resumed', noted: 'resume-noted', 'no-change': 'nothing' } as const;
    return membershipPageAfter(noticeNames[answered.value]);
  },
});

/** Cancelling and resuming: both at the period's end, so that a click never loses anything. */
export const membershipActPages: readonly PageRoute[] = [cancelPage, resumePage];
