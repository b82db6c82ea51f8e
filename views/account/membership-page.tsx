import type { ReactElement } from 'react';
import { formatDate } from '../format.ts';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Notice } from '../parts/notice.tsx';
import { PageNotice } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { Snackbar } from '../parts/snackbar.tsx';
import { CardCard, DetailsCard, InvoicesCard } from './membership-cards.tsx';
import { findChange } from './membership-change.ts';
import { isOwed, MembershipNotices } from './membership-notices.tsx';
import { PlanCard } from './membership-plan-card.tsx';
import type { InvoiceRow, MembershipView, PlanStatusView, UserPlanView } from './membership-view.ts';
import { membershipPath } from './tabs.ts';

interface MembershipPageProps {
  ctx: PageContext;
  membership: MembershipView;
  invoices: readonly InvoiceRow[];
  /** Stripe does not answer: the page shows the stored data. */
  stripeUnavailable: boolean;
  /** The notice about the last action. */
  notice?: { text: string; stays?: boolean | undefined } | undefined;
  /** The failure of the last action. */
  problem?: { title: string; text: string } | undefined;
}

/** A user's plan, card and invoices, with their actions. */
export function MembershipPage({
  ctx,
  membership,
  invoices,
  stripeUnavailable,
  notice,
  problem,
}: MembershipPageProps): ReactElement {
  const { t } = ctx;
  const before = (
    <>
      <PageNotice ctx={ctx} notice={problem && { kind: 'error', ...problem }} />
      {stripeUnavailable && <Notice kind="info">{t('membership.unavailable')}</Notice>}
      {notice?.stays && <Notice kind="success">{notice.text}</Notice>}
      <MembershipNotices ctx={ctx} membership={membership} />
    </>
  );
  return (
    <AccountLayout
      ctx={ctx}
      {...(ctx.links.membership === membershipPath
        ? { at: 'membership' }
        : { at: 'security', below: t('membership.title') })}
      heading={t('membership.title')}
      lead={membershipLine(ctx, membership)}
      before={before}
    >
      <Script ctx={ctx} entry="busy" />
      <PlanCard ctx={ctx} membership={membership} />
      {(membership.sold || membership.card) && (
        // The notice of a failed payment has the same link.
        <CardCard ctx={ctx} card={membership.card} canChange={membership.sold && !isOwed(membership)} />
      )}
      {membership.details && <DetailsCard ctx={ctx} details={membership.details} />}
      <InvoicesCard ctx={ctx} invoices={invoices} />
      {notice && !notice.stays && !membership.noted && (
        <Snackbar ctx={ctx} kind="success" text={notice.text} duration="profile" />
      )}
    </AccountLayout>
  );
}

/**
 * Plan and next date of a membership, in one line; of a free plan only that it is free. A notice says more of what is
 * owed, and of a change to come.
 */
function membershipLine(ctx: PageContext, membership: MembershipView): string {
  const { status, trial } = membership;
  if (status.kind === 'lasting' && status.isFree) return planStatusLine(ctx, membership);
  const plan = 'plan' in status ? status.plan : undefined;
  const name = plan?.line ?? (status.kind === 'trial' ? trial?.name : undefined);
  const owed = status.kind === 'unpaid' && isOwed(membership) ? membership.unpaid : undefined;
  if (name !== undefined && findChange(status)) return name;
  const parts = [name, owed ? owedLine(ctx, owed) : planStatusLine(ctx, membership)];
  return [...new Set(parts.filter((part) => part !== undefined && part !== ''))].join('\u{a0}· ');
}

const owedLine = ({ t }: PageContext, { why, amount }: NonNullable<MembershipView['unpaid']>): string =>
  why === 'failed' ? t('membership.line.failed', { amount }) : t('membership.line.owed');

type PauseStatus = Extract<PlanStatusView, { kind: 'paused' | 'pauses' }>;

function pauseLine(t: PageContext['t'], status: PauseStatus, day: (at: number | null) => string): string {
  if (status.kind === 'pauses') return t('membership.line.pauses', { date: day(status.at) });
  const { resumesAt } = status;
  return resumesAt === null ? t('membership.line.paused') : t('membership.line.pausedUntil', { date: day(resumesAt) });
}

const renewalLine = (
  t: PageContext['t'],
  { at, plan }: { at: number | null; plan: UserPlanView },
  day: (at: number) => string,
): string => (at === null ? (plan.price ?? '') : t('membership.line.renews', { date: day(at) }));

/** The end of a plan, or the plan that follows it. */
function endLine(
  t: PageContext['t'],
  status: Extract<PlanStatusView, { kind: 'ends' | 'changes' }>,
  day: (at: number | null) => string,
): string {
  const change = findChange(status);
  if (change) return t('membership.line.changes', { date: day(change.at), plan: change.to });
  return status.kind === 'ends'
    ? t('membership.line.ends', { date: day(status.at) })
    : t('membership.notice.then', { plan: status.to });
}

/** The status of a membership, in one line. */
export function planStatusLine({ t, lang }: PageContext, { status, unpaid }: MembershipView): string {
  const day = (at: number | null) => (at === null ? '' : formatDate(lang, at));
  switch (status.kind) {
    case 'none':
      return t('membership.line.none');
    case 'paused':
    case 'pauses':
      return pauseLine(t, status, day);
    case 'trial-over':
      return t('membership.line.trialOver');
    case 'trial':
      return t('membership.line.trial', { date: day(status.at) });
    case 'gift':
      return t('membership.line.gift', { date: day(status.at) });
    case 'unpaid':
      return t(unpaid?.why === 'action-required' ? 'membership.notice.action.title' : 'membership.line.unpaid');
    case 'lasting':
      return t(status.isFree ? 'membership.line.free' : 'membership.line.lifetime');
    case 'tries':
      return t('checkout.trialFree', { date: day(status.at) });
    case 'renews':
      return renewalLine(t, status, day);
    case 'ends':
    case 'changes':
      return endLine(t, status, day);
  }
}
