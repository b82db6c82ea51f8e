import { CancelMembershipPage, ResumeMembershipPage } from '../../../views/account/cancel-membership-pages.tsx';
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
import { toCreditText, toMembershipView, toNextChargeView } from './membership-view.ts';

/** The stored membership, and its status for the user. */
async function loadStatus(r: UserRequest, deps: AccountDeps) {
  const membership = await deps.membership.getMembership(r.user.id);
  return { membership, planStatus: toMembershipView(r, deps, { membership }).status };
}

type Ending = Extract<PlanStatusView, { kind: 'renews' | 'changes' | 'unpaid' | 'paused' }>;

const isEnding = (status: PlanStatusView): status is Ending =>
  ['renews', 'changes', 'unpaid', 'paused'].includes(status.kind);

async function endProrated(r: UserRequest, membership: AccountDeps['membership'], announced: AnnouncedEnd) {
  const answered = await askStripe(r, () => membership.endProrated(r.user, announced));
  if ('status' in answered) return answered;
  if (answered.value === 'changed') return { status: 409, problem: { text: r.t('membership.cancel.changed') } };
  const noticeNames = {
    ended: 'refunded',
    cancelled: 'cancelled-on-notice',
    noted: 'cancel-noted',
    'no-change': 'nothing',
  } as const;
  return membershipPageAfter(noticeNames[answered.value]);
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
    const isPaid = kind === 'renews' || kind === 'changes';
    return {
      plan: planStatus.plan.name,
      until: planStatus.kind === 'paused' ? null : planStatus.at,
      atOnce: kind === 'unpaid' || kind === 'paused' ? kind : undefined,
      to: planStatus.kind === 'changes' ? planStatus.to : undefined,
      // The plan without the subscription.
      after: deps.membership.catalogue.byId(membership?.basePlanId)?.name,
      withdrawHref: (await deps.membership.findWithdrawal(r.user.id)) && `${membershipPath}/withdraw`,
      credit: membership && toCreditText(r, membership, deps.membership.catalogue.currency),
      refund: isPaid ? await findRefund(r, deps, r.user.id) : undefined,
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

/** Cancels a scheduled end or change. */
const resumePage = settingsPage({
  path: `${membershipPath}/resume`,
  title: (t, { to }) => t(to === undefined ? 'membership.resume.title' : 'membership.resume.keepTitle'),
  guard: requireRecentAuth,
  Page: ResumeMembershipPage,
  async toProps(r, deps) {
    const { membership, planStatus } = await loadStatus(r, deps);
    if (planStatus.kind !== 'ends' && planStatus.kind !== 'changes') return membershipPageAfter('nothing');
    if (planStatus.kind === 'changes' && planStatus.byMonth) return membershipPageAfter('nothing');
    const { plan } = planStatus;
    const at = membership ? toFullPeriodEnd(membership) : planStatus.at;
    const dropsRefund = membership?.refundAtEnd !== undefined;
    const to = planStatus.kind === 'changes' ? planStatus.to : undefined;
    const next = await readIfAvailable(r, 'settings: resume', () => deps.membership.renewalIfKept(r.user.id));
    const { catalogue } = deps.membership;
    const byMonth = planAfterYear(catalogue, catalogue.byId(membership?.pricedPlanId)) !== undefined;
    const fields: Record<string, string> = next ? { laterCents: toLaterAmounts(next) } : {};
    return { plan: plan.name, at, to, byMonth, dropsRefund, ...(next && toNextChargeView(r, next)), fields };
  },
  async act(r, { membership }) {
    const announced = r.field('laterCents') || undefined;
    const answered = await askStripe(r, () => membership.resume(r.user, announced));
    if ('status' in answered) return answered;
    if (answered.value === 'changed') return { status: 409, problem: { text: r.t('membership.resume.changed') } };
    const noticeNames = { resumed: 'resumed', noted: 'resume-noted', 'no-change': 'nothing' } as const;
    return membershipPageAfter(noticeNames[answered.value]);
  },
});

/** Cancelling and resuming: both at the period's end, so that a click never loses anything. */
export const membershipActPages: readonly PageRoute[] = [cancelPage, resumePage];
