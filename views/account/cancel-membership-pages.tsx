import { type CardView, cardName } from '../billing/card-name.ts';
import { listRefundsNow, listRefundsThen, type RefundView } from '../billing/refund-sentences.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';
import { membershipPath } from './tabs.ts';

interface ActProps {
  ctx: PageContext;
  action: string;
  problem?: ActionProblem | undefined;
}

/** The end of the plan on a month's notice, and what is given back then. */
function listNoticeEffects({ t, lang }: PageContext, plan: string, refund: RefundView & { endsAt: number }): string[] {
  return [
    t('membership.cancel.onNotice', { plan, date: formatDate(lang, refund.endsAt) }),
    ...listRefundsThen({ t }, refund),
    ...listEnd({ t }, refund.owedLater),
  ];
}

/** The last sentences on money: a debt outlasts the plan. */
const listEnd = ({ t }: Pick<PageContext, 't'>, owed: string | undefined): string[] => [
  t('membership.cancel.nothingMore'),
  ...(owed === undefined ? [] : [t('membership.cancel.owedStays', { amount: owed })]),
];

/** The amounts that are given back, and that the plan ends for it. */
export function listRefundEffects(ctx: PageContext, plan: string, refund: RefundView): string[] {
  const { t } = ctx;
  const { endsAt } = refund;
  if (endsAt !== null) return listNoticeEffects(ctx, plan, { ...refund, endsAt });
  return [t('membership.withdraw.ends', { plan }), ...listRefundsNow(ctx, refund), ...listEnd({ t }, refund.owedLater)];
}

interface CancelMembershipProps extends ActProps {
  plan: string;
  /** End of the plan (milliseconds since the epoch); null: unknown. */
  until: number | null;
  /** It ends at once: the last payment has failed, or the subscription is paused, by the operator or its user. */
  atOnce: 'unpaid' | 'paused' | 'pause' | undefined;
  /** A pause that does not happen. */
  dropsPause?: boolean;
  /** Nothing of it is paid yet. */
  isTrial?: boolean;
  /** A scheduled change. */
  to?: string | undefined;
  /** The plan after it. */
  after?: string | undefined;
  /** The page of a withdrawal, if there is one for this purchase. */
  withdrawHref?: string | undefined;
  /** The user's credit, which stays. */
  credit?: string | undefined;
  /** A debt that is too small to be charged now, which stays. */
  owed?: string | undefined;
  /** The plan ends at once, and this is given back. */
  refund?: RefundView | undefined;
  /** A renewal that is being charged, and the end of the period that it pays (milliseconds since the epoch). */
  renewal?: { amount: string; until: number; isHeld: boolean } | undefined;
}

/** Until when the plan stays, and the last charge. */
function listEffects(props: CancelMembershipProps): string[] {
  const { ctx, plan, until, atOnce, renewal, refund, isTrial, withdrawHref } = props;
  const { t, lang } = ctx;
  const date = renewal ? formatDate(lang, renewal.until) : '';
  const renewing = renewal
    ? [
        t(renewal.isHeld ? 'membership.cancel.renewalHeld' : 'membership.cancel.renewing', {
          amount: renewal.amount,
          date,
        }),
      ]
    : [];
  if (refund) return [...renewing, ...listRefundEffects(ctx, plan, refund)];
  if (renewal) {
    return [...renewing, t('membership.cancel.until', { date }), t('membership.cancel.nothingAfter')];
  }
  if (atOnce === 'paused') return [t('membership.cancel.atOncePaused'), t('membership.cancel.credit')];
  if (atOnce === 'pause') return [t('membership.cancel.atOncePaused'), t('membership.cancel.nothing')];
  if (atOnce === 'unpaid') return [t('membership.cancel.atOnce'), t('membership.cancel.nothing')];
  const stays =
    until === null ? t('membership.cancel.untilEnd') : t('membership.cancel.until', { date: formatDate(lang, until) });
  if (isTrial) return [stays, t('membership.cancel.nothingOfTrial')];
  // A withdrawal, to which the page links, gives it back.
  return [stays, t(withdrawHref === undefined ? 'membership.cancel.nothing' : 'membership.cancel.nothingByCancelling')];
}

/** The consequences of cancelling, before it happens. */
export function CancelMembershipPage(props: CancelMembershipProps) {
  const { ctx, action, problem, plan, atOnce, to, after, renewal, refund, withdrawHref, credit, owed, dropsPause } =
    props;
  const { t } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="cancel-membership"
      title={t('membership.cancel.title')}
      lead={t('membership.cancel.lead', { plan })}
      tab="membership"
      problem={problem}
    >
      <ul className="points">
        {listEffects(props).map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
        {atOnce === 'unpaid' && <li>{t('membership.cancel.unpaid')}</li>}
        {credit !== undefined && <li>{t('membership.cancel.creditStays', { amount: credit })}</li>}
        {owed !== undefined && <li>{t('membership.cancel.owedStays', { amount: owed })}</li>}
        {dropsPause && <li>{t('membership.cancel.pauseToo')}</li>}
        {to !== undefined && <li>{t('membership.cancel.change', { plan: to })}</li>}
        {after !== undefined && <li>{t('membership.cancel.then', { plan: after })}</li>}
        {atOnce === undefined && !refund && <li>{t('membership.cancel.back')}</li>}
        {refund && refund.endsAt !== null && <li>{t('membership.cancel.backOnNotice')}</li>}
      </ul>
      {withdrawHref !== undefined && (
        <p>
          {t('membership.withdraw.instead')} <a href={withdrawHref}>{t('membership.withdraw.act')}</a>
        </p>
      )}
      <form className="form" method="post" action={action}>
        {refund && <HiddenFields fields={refund.fields} />}
        <ActButtons
          ctx={ctx}
          danger
          submit={t('membership.cancel.submit')}
          cancel={t('membership.cancel.keep')}
          tab="membership"
        />
        {renewal && (
          <>
            <p>{t('membership.cancel.nowLead', { plan })}</p>
            <div className="actions">
              <Button kind="quiet" name="when" value="now">
                {t('membership.cancel.now')}
              </Button>
            </div>
          </>
        )}
      </form>
    </AccountAction>
  );
}

interface ResumeMembershipProps extends ActProps {
  plan: string;
  /** The next charge; null or undefined: unknown. */
  at: number | null;
  amount?: string | undefined;
  /** The words of a button that obliges to pay. */
  order?: string | undefined;
  /** Sentences on that charge: what credit pays of it, and later amounts ('': none). */
  more?: string | undefined;
  /** A yearly plan, which goes on as the monthly one. */
  byMonth?: boolean;
  /** A trial, after which it is charged for the first time. */
  isTrial?: boolean;
  /** A refund was announced for its end, which is not made. */
  dropsRefund?: boolean;
  /** The plan of the change that does not happen. */
  to?: string | undefined;
  /** A pause: one to come does not happen, or it ends now. */
  pause?: 'to-come' | 'begun' | undefined;
  /** Hidden fields: the announced amounts. */
  fields: Record<string, string>;
}

function resumeLead({
  ctx: { t, lang },
  plan,
  at,
  amount,
  byMonth,
  isTrial,
  to,
  pause,
}: ResumeMembershipProps): string {
  if (pause === 'begun') return t('membership.resume.nowLead', { plan, amount: amount ?? '' });
  if (at === null) return t('membership.resume.leadUndated', { plan });
  const date = formatDate(lang, at);
  if (byMonth) {
    return amount === undefined
      ? t('membership.resume.byMonthUnpriced', { plan, date })
      : t('membership.resume.byMonth', { plan, date, amount });
  }
  if (isTrial && amount !== undefined) return t('membership.resume.trialLead', { plan, date, amount });
  const dated = amount === undefined ? date : t('membership.plan.renewsAt', { date, amount });
  if (pause) return t('membership.resume.takeBackLead', { plan, date: dated });
  return to === undefined
    ? t('membership.resume.lead', { plan, date: dated })
    : t('membership.resume.keepLead', { plan, date: dated, to });
}

/** The title of the page, and the text of its button. */
export function resumeTexts({ to, pause }: Pick<ResumeMembershipProps, 'to' | 'pause'>) {
  if (pause === 'begun') return { title: 'membership.act.resumeNow', submit: 'membership.act.resumeNow' } as const;
  if (pause) return { title: 'membership.act.takeBack', submit: 'membership.act.takeBack' } as const;
  if (to === undefined) return { title: 'membership.resume.title', submit: 'membership.act.resume' } as const;
  return { title: 'membership.resume.keepTitle', submit: 'membership.act.keep' } as const;
}

/** Cancels the scheduled end, pause, or change to another plan (`to`). */
export function ResumeMembershipPage(props: ResumeMembershipProps) {
  const { ctx, action, problem, at, fields, more = '', dropsRefund } = props;
  const { t } = ctx;
  const refund = dropsRefund ? t('membership.resume.noRefund') : '';
  const lead = [resumeLead(props), at === null ? '' : more, refund].filter((sentence) => sentence !== '').join(' ');
  return (
    <AccountAction
      ctx={ctx}
      id="resume-membership"
      title={t(resumeTexts(props).title)}
      lead={lead}
      tab="membership"
      problem={problem}
    >
      <form className="form" method="post" action={action}>
        <HiddenFields fields={fields} />
        <ActButtons ctx={ctx} submit={props.order ?? t(resumeTexts(props).submit)} tab="membership" />
      </form>
    </AccountAction>
  );
}

interface PayUnpaidProps extends ActProps {
  plan: string;
  amount: string;
  card: CardView | undefined;
}

/** Charges the unpaid invoice to the card again. */
export function PayUnpaidPage({ ctx, action, problem, plan, amount, card }: PayUnpaidProps) {
  const { t } = ctx;
  const cardHref = `${membershipPath}/card`;
  return (
    <AccountAction
      ctx={ctx}
      id="pay-unpaid"
      title={t('membership.pay.title')}
      lead={
        card
          ? t('membership.pay.lead', { plan, amount, card: cardName(t, card) })
          : t('membership.pay.noCard', { plan, amount })
      }
      tab="membership"
      problem={problem}
    >
      <form className="form" method="post" action={action}>
        <div className="actions even">
          <ButtonLink href={cardHref} kind={card ? 'quiet' : 'primary'}>
            {t(card ? 'membership.act.changeCard' : 'membership.act.addCard')}
          </ButtonLink>
          {card && <Button>{t('membership.act.pay', { amount })}</Button>}
        </div>
      </form>
    </AccountAction>
  );
}
