import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { Facts } from './facts.tsx';
import { findChange } from './membership-change.ts';
import { hasMainNotice, isSaleHeld } from './membership-notices.tsx';
import type { MembershipView, PlanStatusView } from './membership-view.ts';
import { membershipPath } from './tabs.ts';

interface Props {
  ctx: PageContext;
  membership: MembershipView;
}

/** The end of a plan. Where another follows, which a notice names, the charge that comes with it. */
function endFact(
  ctx: PageContext,
  planStatus: Extract<PlanStatusView, { kind: 'ends' | 'changes' }>,
  nextCharge: MembershipView['nextCharge'],
): { label: string; value: string } | undefined {
  const { t, lang } = ctx;
  if (planStatus.at === null) return undefined;
  const date = formatDate(lang, planStatus.at);
  const change = findChange(planStatus);
  if (!change) return { label: t('membership.plan.endsOn'), value: date };
  if (planStatus.kind === 'changes' && nextCharge) return nextPayment(ctx, change.at, nextCharge);
  // The number of a tier does not stand alone on a line.
  const plan = change.to.replace(/ (?=\S+$)/, '\u00a0');
  return { label: t('membership.plan.changes'), value: t('membership.plan.changesTo', { date, plan }) };
}

/** The date of the plan's next change, with its label. */
function dated(
  ctx: PageContext,
  { status: planStatus, nextCharge }: MembershipView,
): { label: string; value: string } | undefined {
  const { t, lang } = ctx;
  if (!('at' in planStatus) || planStatus.at === null) return undefined;
  const date = formatDate(lang, planStatus.at);
  switch (planStatus.kind) {
    case 'renews':
      return {
        label: t('membership.plan.renewsOn'),
        value: nextCharge ? chargeText(ctx, planStatus.at, nextCharge) : date,
      };
    case 'tries':
      return nextCharge
        ? nextPayment(ctx, planStatus.at, nextCharge)
        : { label: t('membership.plan.nextPayment'), value: date };
    case 'unpaid':
      return { label: t('membership.plan.paidUntil'), value: date };
    case 'ends':
    case 'changes':
      return endFact(ctx, planStatus, nextCharge);
    case 'gift':
    case 'trial':
      return { label: t('membership.plan.endsOn'), value: date };
    case 'pauses':
      return { label: t('membership.plan.pausesOn'), value: date };
  }
}

type NextChargeView = NonNullable<MembershipView['nextCharge']>;

/** '{{date}} at {{amount}}'; where sentences on tax, credit and later amounts follow, it is one too. */
function chargeText({ t, lang }: PageContext, at: number, { amount, more }: NextChargeView): string {
  const charge = t('membership.plan.renewsAt', { date: formatDate(lang, at), amount });
  return more === '' ? charge : `${charge}. ${more}`;
}

/** The first charge of the plan that follows. */
const nextPayment = (ctx: PageContext, at: number, nextCharge: NextChargeView) => ({
  label: ctx.t('membership.plan.nextPayment'),
  value: chargeText(ctx, at, nextCharge),
});

/** The end of a pause, and its charge. */
function resumeFacts(ctx: PageContext, { status, nextCharge }: MembershipView) {
  const at = status.kind === 'pauses' || status.kind === 'paused' ? status.resumesAt : null;
  if (at === null) return [];
  const value = nextCharge ? chargeText(ctx, at, nextCharge) : formatDate(ctx.lang, at);
  return [{ label: ctx.t('membership.plan.resumesOn'), value }];
}

/** The amounts that are given back at the end of the plan. */
function refundFacts({ t }: PageContext, planStatus: PlanStatusView) {
  const { amount, credit } = (planStatus.kind === 'ends' && planStatus.refund) || {};
  return [
    ...(amount === undefined ? [] : [{ label: t('membership.plan.refundThen'), value: amount }]),
    ...(credit === undefined ? [] : [{ label: t('membership.plan.creditThen'), value: credit }]),
  ];
}

function planPriceText({ t }: PageContext, planStatus: PlanStatusView): string | undefined {
  if (!('plan' in planStatus)) return undefined;
  // The line below the heading says that a plan is free.
  if (planStatus.kind === 'lasting') return planStatus.isFree ? undefined : t('membership.plan.lifetime');
  return planStatus.kind === 'gift' ? t('membership.plan.gift') : planStatus.plan.price;
}

/** The content of the plan; one that is paused gives nothing. */
function featureFacts({ t }: PageContext, { status, unpaid }: MembershipView) {
  const features = 'plan' in status && status.kind !== 'paused' && !unpaid?.resting ? status.plan.features : [];
  return features.length === 0 ? [] : [{ label: t('membership.plan.includes'), value: features.join('\n') }];
}

/** The user's plan: name, price, next change and content, with links to change it. */
export function PlanCard({ ctx, membership }: Props) {
  const { t } = ctx;
  const { status, discount, trial, credit } = membership;
  const plan = 'plan' in status ? status.plan : undefined;
  const name = plan?.line ?? (status.kind === 'trial' ? trial?.name : undefined) ?? t('membership.plan.none');
  const price = planPriceText(ctx, status);
  const day = dated(ctx, membership);
  const facts = [
    { label: t('membership.plan.name'), value: <strong>{name}</strong> },
    ...(price === undefined ? [] : [{ label: t('membership.plan.price'), value: price }]),
    ...(discount === undefined ? [] : [{ label: t('membership.plan.discount'), value: discount }]),
    ...(day === undefined ? [] : [day]),
    ...resumeFacts(ctx, membership),
    ...refundFacts(ctx, status),
    ...(credit === undefined ? [] : [{ label: t('membership.plan.credit'), value: credit }]),
    ...featureFacts(ctx, membership),
  ];
  return (
    <Card id="plan" title={t('membership.plan.title')}>
      <Facts facts={facts} />
      {membership.sold && (
        <div className="actions main-first">
          <PlanActs ctx={ctx} membership={membership} />
        </div>
      )}
    </Card>
  );
}

const paidKinds: readonly PlanStatusView['kind'][] = ['renews', 'ends', 'changes', 'pauses', 'unpaid', 'tries'];

/** Tests whether the membership can be cancelled, and is not cancelled yet. */
function canCancel({ status: { kind }, noted }: MembershipView): boolean {
  const isEnding = kind === 'ends' || (noted === 'cancel' && (kind === 'unpaid' || kind === 'paused'));
  return !isEnding && (kind === 'paused' || paidKinds.includes(kind));
}

/** Tests for a pause of the user that has begun and whose end is not being charged. */
const canResumeNow = ({ status, unpaid, noted }: MembershipView): boolean =>
  !unpaid &&
  noted === undefined &&
  ((status.kind === 'paused' && status.resumesAt !== null) || (status.kind === 'pauses' && status.hasBegun));

/** Nothing is paid, so that a gift code can be redeemed. */
const canRedeem = ({ hasGifts, status, pending }: MembershipView): boolean =>
  hasGifts === true &&
  !pending &&
  (['none', 'trial', 'trial-over', 'gift'].includes(status.kind) || (status.kind === 'lasting' && status.isFree));

/** Nothing is sold meanwhile. */
const heldKinds: readonly PlanStatusView['kind'][] = ['paused', 'pauses'];

/** The end, change or pause that does not have to happen. */
function findTakenBack(status: PlanStatusView): 'ends' | 'changes' | 'pauses' | undefined {
  if (status.kind === 'ends') return 'ends';
  if (status.kind === 'changes' && !status.byMonth) return 'changes';
  return status.kind === 'pauses' && !status.hasBegun ? 'pauses' : undefined;
}

const takeBackTexts = {
  ends: 'membership.act.resume',
  changes: 'membership.act.keep',
  pauses: 'membership.act.takeBack',
} as const;

/** Where a partner's plan follows, keeping the present one is no main act. */
function TakeBackButton({
  t,
  status,
  takesBack,
  kind,
}: Pick<PageContext, 't'> & {
  status: PlanStatusView;
  takesBack: keyof typeof takeBackTexts;
  kind: 'primary' | 'quiet';
}) {
  if (status.kind === 'ends' && status.isForDeal) {
    return <Button kind="quiet">{t('membership.act.keepInstead', { plan: status.plan.name })}</Button>;
  }
  return <Button kind={kind}>{t(takeBackTexts[takesBack])}</Button>;
}

/** Other seats of a plan by the seat, and another plan. @param props.kind the looks of the first */
function SaleLinks({
  t,
  membership,
  kind,
}: Pick<PageContext, 't'> & { membership: MembershipView; kind: 'primary' | 'quiet' }) {
  const { status, hasSeats } = membership;
  const hasPlan = status.kind === 'lasting' || paidKinds.includes(status.kind);
  return (
    <>
      {hasSeats && (
        <ButtonLink href={`${membershipPath}/seats`} kind={kind}>
          {t('membership.act.seats')}
        </ButtonLink>
      )}
      {/* Nothing is sold to a paused subscription. */}
      {!heldKinds.includes(status.kind) && !isSaleHeld(membership) && (
        <ButtonLink href="/plan-purchase" kind={hasSeats ? 'quiet' : kind}>
          {t(hasPlan ? 'membership.act.change' : 'membership.act.choose')}
        </ButtonLink>
      )}
    </>
  );
}

/** The main act first; the cancellation is the last, and no button. */
function PlanActs({ ctx: { t }, membership }: Props) {
  const { status, unpaid } = membership;
  const takesBack = findTakenBack(status);
  const mainKind = hasMainNotice(membership) ? 'quiet' : 'primary';
  return (
    <>
      {takesBack && (
        <form method="post" action={`${membershipPath}/resume`}>
          <TakeBackButton t={t} status={status} takesBack={takesBack} kind={mainKind} />
        </form>
      )}
      {canResumeNow(membership) && (
        <ButtonLink href={`${membershipPath}/resume`} kind={mainKind}>
          {t('membership.act.resumeNow')}
        </ButtonLink>
      )}
      <SaleLinks t={t} membership={membership} kind={takesBack || unpaid ? 'quiet' : mainKind} />
      {canRedeem(membership) && (
        <ButtonLink href="/gift" kind="quiet">
          {t('checkout.gift.heading')}
        </ButtonLink>
      )}
      {membership.canPause && (
        <ButtonLink href={`${membershipPath}/pause`} kind="quiet">
          {t('membership.act.pause')}
        </ButtonLink>
      )}
      {membership.withdrawalUntil !== undefined && (
        <ButtonLink href={`${membershipPath}/withdraw`} kind="quiet">
          {t('membership.withdraw.act')}
        </ButtonLink>
      )}
      {canCancel(membership) && (
        <ButtonLink href={`${membershipPath}/cancel`} kind="link">
          {t('membership.act.cancel')}
        </ButtonLink>
      )}
    </>
  );
}
