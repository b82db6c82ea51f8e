import type { T } from '../../locales/index.ts';
import { cardName, methodKind } from '../billing/card-name.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { SupportLink } from '../parts/page-notice.tsx';
import { findChange } from './membership-change.ts';
import type { MembershipView, PlanStatusView } from './membership-view.ts';
import { membershipPath } from './tabs.ts';

interface Props {
  ctx: PageContext;
  membership: MembershipView;
}

/** Tests for a notice above the plan that has the main act of the page. */
export const hasMainNotice = (membership: MembershipView): boolean =>
  isOwed(membership) || membership.deal !== undefined;

/** The text of a charge that has failed. The saved card may be another one by now: it is named in a sentence of its own. */
export function failedText(t: T, amount: string, card: MembershipView['card']): string {
  if (!card) return t('membership.notice.failed.amount', { amount });
  const kind = methodKind(card);
  if (kind === 'account') return t('membership.notice.failed.amountAccount', { amount });
  if (kind !== 'card') return t('membership.notice.failed.amount', { amount });
  const saved = t('membership.notice.failed.card', { card: cardName(t, card) });
  return `${t('membership.notice.failed.amountAlone', { amount })} ${saved}`;
}

/** Tests for a charge that is to be paid. A canceled plan ends as soon as Stripe answers, without a payment. */
export const isOwed = ({ unpaid, noted }: MembershipView): boolean => unpaid !== undefined && noted !== 'cancel';

function UnpaidNotice({ ctx, membership }: Props) {
  const { t, lang } = ctx;
  const { unpaid, sold } = membership;
  if (!unpaid || !isOwed(membership)) return null;
  const { amount, why, nextAttemptAt, keptUntil, resting, meanwhile: plan, url } = unpaid;
  const day = (at: number) => formatDate(lang, at);
  const waits = why === 'action-required';
  const rests = resting
    ? [t('membership.notice.failed.rests'), plan === undefined ? '' : t('membership.notice.failed.meanwhile', { plan })]
    : [];
  const stored = keptUntil === undefined ? rests : [t('membership.notice.failed.kept', { date: day(keptUntil) })];
  const words = waits
    ? [t('membership.notice.action.text', { amount }), ...stored]
    : [
        failedText(t, amount, membership.card),
        nextAttemptAt === null
          ? t('membership.notice.failed.last')
          : t('membership.notice.failed.nextAttempt', { date: day(nextAttemptAt) }),
        ...stored,
      ];
  return (
    <Notice
      kind={waits ? 'info' : 'error'}
      title={t(waits ? 'membership.notice.action.title' : 'membership.notice.failed.title')}
      acts={
        sold ? (
          <>
            <form method="post" action={`${membershipPath}/pay`}>
              <Button>{waits ? t('membership.act.confirm') : t('membership.act.pay', { amount })}</Button>
            </form>
            <ButtonLink kind="quiet" href={`${membershipPath}/card`}>
              {t(membership.card ? 'membership.act.changeCard' : 'membership.act.addCard')}
            </ButtonLink>
            {url !== null && (
              <ButtonLink kind="link" href={url}>
                {t('membership.act.hosted')}
              </ButtonLink>
            )}
          </>
        ) : undefined
      }
    >
      {words.filter(Boolean).join(' ')}
    </Notice>
  );
}

/** A bank has a debit, or has refused it and its purchase has not ended yet: no plan can be chosen meanwhile. */
export const isSaleHeld = ({ pending }: MembershipView): boolean => pending?.debit !== undefined;

function TrialNotice({ ctx, membership }: Props) {
  const { t, lang } = ctx;
  const { trial } = membership;
  if (!trial || isSaleHeld(membership)) return null;
  const { days, endsAt, name } = trial;
  return (
    <Notice kind="info" title={t('membership.notice.trial.title', { count: days })}>
      {t('membership.notice.trial.text', { date: formatDate(lang, endsAt), plan: name })}
    </Notice>
  );
}

type EndStatus = Extract<PlanStatusView, { kind: 'ends' }>;

/** The refund at the end of a plan. */
function refundTexts({ t }: PageContext, { refund }: EndStatus): string[] {
  if (!refund) return [];
  const { amount, credit } = refund;
  if (amount === undefined && credit === undefined) return [t('membership.notice.ends.refundLater')];
  return [
    ...(amount === undefined ? [] : [t('membership.notice.ends.refund', { amount })]),
    ...(credit === undefined ? [] : [t('membership.notice.ends.credit', { amount: credit })]),
  ];
}

/** A pause that is to come, or has begun. */
function PauseNotice({ ctx, membership: { status, unpaid } }: Props) {
  const { t, lang } = ctx;
  if (status.kind === 'pauses') {
    const [date, until] = [formatDate(lang, status.at ?? status.resumesAt), formatDate(lang, status.resumesAt)];
    return (
      <Notice kind="info" title={t('membership.notice.pauses.title', { date })}>
        {t('membership.notice.pauses.text', { plan: status.plan.name, until })}
      </Notice>
    );
  }
  // A charge that has failed has a notice of its own.
  if (status.kind !== 'paused' || unpaid) return null;
  const plan = status.plan.name;
  const { support, help } = ctx.links;
  if (status.resumesAt === null) {
    return (
      <Notice
        kind="info"
        title={t('membership.notice.paused.title')}
        acts={
          support === undefined &&
          help !== undefined && <ButtonLink href={help}>{t('membership.notice.paused.contact')}</ButtonLink>
        }
      >
        {t('membership.notice.paused.text', { plan })}
        {support !== undefined && <SupportLink ctx={ctx} />}
      </Notice>
    );
  }
  return (
    <Notice kind="info" title={t('membership.notice.pausedUntil.title', { date: formatDate(lang, status.resumesAt) })}>
      {t('membership.notice.pausedUntil.text', { plan })}
    </Notice>
  );
}

/** The plan after the present one, in a sentence. @param isDated a title names the day */
function followingText({ t, lang }: PageContext, status: PlanStatusView, isDated: boolean): string[] {
  const change = findChange(status);
  const plan = change?.to ?? (status.kind === 'ends' ? status.after : undefined);
  const at = change?.at ?? (status.kind === 'ends' ? status.at : null);
  if (plan === undefined) return [];
  if (isDated || at === null) return [t('membership.notice.then', { plan })];
  return [t('membership.notice.thenFrom', { date: formatDate(lang, at), plan })];
}

/** The end of a plan on a day that is known. */
function EndNotice({ ctx, status, at }: { ctx: PageContext; status: EndStatus; at: number }) {
  const { t, lang } = ctx;
  const texts = [t('membership.notice.ends.text'), ...refundTexts(ctx, status), ...followingText(ctx, status, true)];
  return (
    <Notice kind="info" title={t('membership.notice.ends.title', { date: formatDate(lang, at) })}>
      {texts.join(' ')}
    </Notice>
  );
}

type ChangeStatus = Extract<PlanStatusView, { kind: 'changes' | 'ends' }>;

/** Another plan takes the place of the present one. */
function ChangeNotice({
  ctx,
  status,
  change: { at, to },
}: {
  ctx: PageContext;
  status: ChangeStatus;
  change: { at: number; to: string };
}) {
  const { t, lang } = ctx;
  const changes = t('membership.notice.changes.text', { date: formatDate(lang, at), from: status.plan.line, to });
  const refund = status.kind === 'ends' ? refundTexts(ctx, status) : [];
  return (
    <Notice kind="info" title={t('membership.notice.changes.title')}>
      {[changes, ...refund].join(' ')}
    </Notice>
  );
}

function PlanStatusNotice({ ctx, membership }: Props) {
  const { t, lang } = ctx;
  const { status, noted } = membership;
  if (noted !== undefined) {
    const refund = status.kind === 'ends' ? refundTexts(ctx, status) : [];
    const words = [t(`membership.noted.${noted}`), ...refund, ...followingText(ctx, status, false)];
    return <Notice kind="info">{words.join(' ')}</Notice>;
  }
  if (status.kind === 'pauses' || status.kind === 'paused') return <PauseNotice ctx={ctx} membership={membership} />;
  if (status.kind === 'tries') {
    const date = formatDate(lang, status.at);
    return (
      <Notice kind="info" title={t('membership.notice.tries.title', { plan: status.plan.name, date })}>
        {t('membership.notice.tries.text')}
      </Notice>
    );
  }
  if (status.kind === 'trial-over') {
    if (isSaleHeld(membership)) return null;
    return (
      <Notice kind="info" title={t('membership.notice.trialOver.title')}>
        {t('membership.notice.trialOver.text')}
      </Notice>
    );
  }
  if (status.kind !== 'ends' && status.kind !== 'changes') return null;
  const change = findChange(status);
  if (change) return <ChangeNotice ctx={ctx} status={status} change={change} />;
  return status.kind === 'ends' && status.at !== null ? <EndNotice ctx={ctx} status={status} at={status.at} /> : null;
}

/** A bank has a debit for days: there is nothing to do. */
function DebitNotice({
  ctx: { t },
  pending: { plan, amount },
  debit,
}: Pick<Props, 'ctx'> & {
  pending: NonNullable<MembershipView['pending']>;
  debit: NonNullable<NonNullable<MembershipView['pending']>['debit']>;
}) {
  const title = t(debit === 'failed' ? 'membership.notice.debit.failedTitle' : 'membership.notice.debit.title');
  return (
    <Notice kind={debit === 'failed' ? 'error' : 'info'} title={title}>
      {t(`membership.notice.debit.${debit}`, { plan, amount })}
    </Notice>
  );
}

/** The notices of the membership, the most urgent first. */
export function MembershipNotices({ ctx, membership }: Props) {
  const { t } = ctx;
  const { pending, deal } = membership;
  return (
    <>
      <UnpaidNotice ctx={ctx} membership={membership} />
      {pending?.debit && <DebitNotice ctx={ctx} pending={pending} debit={pending.debit} />}
      {pending && !pending.debit && (
        <Notice
          kind="info"
          title={t('membership.notice.pending.title')}
          acts={
            <ButtonLink kind="quiet" href={pending.href}>
              {t('membership.act.finish')}
            </ButtonLink>
          }
        >
          {t('membership.notice.pending.text', { plan: pending.plan, amount: pending.amount })}
        </Notice>
      )}
      {deal && (
        <Notice
          kind="info"
          title={t('membership.notice.deal.title')}
          acts={
            <ButtonLink kind={isOwed(membership) ? 'quiet' : 'primary'} href={deal.href}>
              {t('membership.act.deal')}
            </ButtonLink>
          }
        >
          {t('membership.notice.deal.text', { plan: deal.plan })}
        </Notice>
      )}
      <TrialNotice ctx={ctx} membership={membership} />
      <PlanStatusNotice ctx={ctx} membership={membership} />
    </>
  );
}
