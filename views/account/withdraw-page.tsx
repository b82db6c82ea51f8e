import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';

interface WithdrawPageProps {
  ctx: PageContext;
  action: string;
  plan: string;
  /** Milliseconds since the epoch. */
  orderedAt: number;
  until: number;
  /** The purchases before an upgrade, which are withdrawn from with it; the newest first. */
  earlier: readonly { plan: string; orderedAt: number }[];
  /** The amount that is given back, as text. */
  refund: string | undefined;
  /** The amount that becomes credit again, as text. */
  credit: string | undefined;
  /** The amount that isn’t owed any more, as text. */
  owed: string | undefined;
  /** A bank decides about the payment. */
  isDisputed: boolean;
  /** To the bank account, else to the card. */
  toAccount: boolean;
  /** Not given back: the share of these days, with its amount as text. */
  days?: { used: number; total: number; amount: string; requestedAt: number } | undefined;
  problem?: ActionProblem;
}

/** The consequences of a withdrawal, before it happens. */
export function WithdrawPage({ ctx, action, plan, orderedAt, until, problem, ...back }: WithdrawPageProps) {
  const { t, lang } = ctx;
  const { earlier, refund, credit, owed, isDisputed, days } = back;
  return (
    <AccountAction
      ctx={ctx}
      id="withdraw"
      title={t('membership.withdraw.title')}
      lead={t('membership.withdraw.lead', { plan, date: formatDate(lang, orderedAt) })}
      tab="membership"
      problem={problem}
    >
      <ul className="points">
        {earlier.map((one) => (
          <li key={one.orderedAt}>
            {t('membership.withdraw.together', { plan: one.plan, date: formatDate(lang, one.orderedAt) })}
          </li>
        ))}
        {refund && (
          <li>{t(`membership.withdraw.${back.toAccount ? 'refundAccount' : 'refund'}`, { amount: refund })}</li>
        )}
        {credit && <li>{t('membership.withdraw.credit', { amount: credit })}</li>}
        {owed && <li>{t('membership.withdraw.owed', { amount: owed })}</li>}
        {days && (
          <li>
            {t('membership.withdraw.days', {
              ...days,
              count: days.total,
              date: formatDate(lang, days.requestedAt, 'moment'),
            })}
          </li>
        )}
        {isDisputed && <li>{t('membership.withdraw.disputed')}</li>}
        <li>{t('membership.withdraw.ends', { plan })}</li>
        <li>{t('membership.withdraw.mail')}</li>
      </ul>
      <p className="muted small">{t('membership.withdraw.until', { date: formatDate(lang, until, 'moment') })}</p>
      <form className="form" method="post" action={action}>
        {days && <HiddenFields fields={{ days: String(days.used) }} />}
        {earlier.length > 0 && <HiddenFields fields={{ payments: String(earlier.length + 1) }} />}
        <ActButtons
          ctx={ctx}
          danger
          submit={t('membership.withdraw.submit')}
          cancel={t('membership.cancel.keep')}
          tab="membership"
        />
      </form>
    </AccountAction>
  );
}
