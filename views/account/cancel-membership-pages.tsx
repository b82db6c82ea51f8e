import { type CardView, cardName } from '../billing/card-name.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';
import { membershipPath } from './tabs.ts';

interface ActProps {
  ctx: PageContext;
  action: string;
  problem?: ActionProblem | undefined;
}

export interface CancelMembershipProps extends ActProps {
  plan: string;
  /** End of the plan (milliseconds since the epoch); null: unknown. */
  until: number | null;
  /** It ends at once: the last payment has failed, or the subscription is paused. */
  atOnce: 'unpaid' | 'paused' | undefined;
  /** A scheduled change. */
  to?: string | undefined;
  /** The plan after it. */
  after?: string | undefined;
  /** The page of a withdrawal, if there is one for this purchase. */
  withdrawHref?: string | undefined;
  /** The user's credit, which stays. */
  credit?: string | undefined;
  /** A renewal that is being charged, and the end of the period that it pays (milliseconds since the epoch). */
  renewal?: { amount: string; until: number } | undefined;
}

/** Until when the plan stays, and the last charge. */
function listEffects({ ctx: { t, lang }, until, atOnce, renewal }: CancelMembershipProps): string[] {
  if (renewal) {
    const date = formatDate(lang, renewal.until);
    return [
      t('membership.cancel.renewing', { amount: renewal.amount, date }),
      t('membership.cancel.until', { date }),
      t('membership.cancel.nothingAfter'),
    ];
  }
  if (atOnce === 'paused') return [t('membership.cancel.atOncePaused'), t('membership.cancel.credit')];
  if (atOnce === 'unpaid') return [t('membership.cancel.atOnce'), t('membership.cancel.nothing')];
  const stays =
    until === null ? t('membership.cancel.untilEnd') : t('membership.cancel.until', { date: formatDate(lang, until) });
  return [stays, t('membership.cancel.nothing')];
}

/** The consequences of cancelling, before it happens. */
export function CancelMembershipPage(props: CancelMembershipProps) {
  const { ctx, action, problem, plan, atOnce, to, after, renewal, withdrawHref, credit } = props;
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
        {to !== undefined && <li>{t('membership.cancel.change', { plan: to })}</li>}
        {after !== undefined && <li>{t('membership.cancel.then', { plan: after })}</li>}
        {atOnce === undefined && <li>{t('membership.cancel.back')}</li>}
      </ul>
      {withdrawHref !== undefined && (
        <p>
          {t('membership.withdraw.instead')} <a href={withdrawHref}>{t('membership.withdraw.act')}</a>
        </p>
      )}
      <form className="form" method="post" action={action}>
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

/** Cancels the scheduled end, or change to another plan (`to`). */
export function ResumeMembershipPage(props: ActProps & { plan: string; at: number | null; to?: string | undefined }) {
  const { ctx, action, problem, plan, at, to } = props;
  const { t, lang } = ctx;
  const date = at === null ? undefined : formatDate(lang, at);
  const lead =
    date === undefined
      ? t('membership.resume.leadUndated', { plan })
      : to === undefined
        ? t('membership.resume.lead', { plan, date })
        : t('membership.resume.keepLead', { plan, date, to });
  return (
    <AccountAction
      ctx={ctx}
      id="resume-membership"
      title={t(to === undefined ? 'membership.resume.title' : 'membership.resume.keepTitle')}
      lead={lead}
      tab="membership"
      problem={problem}
    >
      <form className="form" method="post" action={action}>
        <ActButtons
          ctx={ctx}
          submit={t(to === undefined ? 'membership.act.resume' : 'membership.act.keep')}
          tab="membership"
        />
      </form>
    </AccountAction>
  );
}

export interface PayUnpaidProps extends ActProps {
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
          ? t('membership.pay.lead', { plan, amount, card: cardName(card) })
          : t('membership.pay.noCard', { plan, amount })
      }
      tab="membership"
      problem={problem}
    >
      <form className="form" method="post" action={action}>
        <div className="actions">
          {card && <Button>{t('membership.act.pay')}</Button>}
          <ButtonLink href={cardHref} kind={card ? 'quiet' : 'primary'}>
            {t(card ? 'membership.act.changeCard' : 'membership.act.addCard')}
          </ButtonLink>
        </div>
      </form>
    </AccountAction>
  );
}
