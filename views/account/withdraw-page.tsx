import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { AccountAction, ActButtons } from './account-action.tsx';

interface WithdrawPageProps {
  ctx: PageContext;
  action: string;
  plan: string;
  /** Milliseconds since the epoch. */
  orderedAt: number;
  until: number;
  /** The amount that is given back, as text. */
  refund: string | undefined;
  /** The amount that becomes credit again, as text. */
  credit: string | undefined;
  /** A bank decides about the payment. */
  isDisputed: boolean;
  /** To the bank account, else to the card. */
  toAccount: boolean;
}

/** The consequences of a withdrawal, before it happens. */
export function WithdrawPage({ ctx, action, plan, orderedAt, until, ...back }: WithdrawPageProps) {
  const { t, lang } = ctx;
  const { refund, credit, isDisputed } = back;
  return (
    <AccountAction
      ctx={ctx}
      id="withdraw"
      title={t('membership.withdraw.title')}
      lead={t('membership.withdraw.lead', { plan, date: formatDate(lang, orderedAt) })}
      tab="membership"
    >
      <ul className="points">
        {refund && (
          <li>{t(`membership.withdraw.${back.toAccount ? 'refundAccount' : 'refund'}`, { amount: refund })}</li>
        )}
        {credit && <li>{t('membership.withdraw.credit', { amount: credit })}</li>}
        {isDisputed && <li>{t('membership.withdraw.disputed')}</li>}
        <li>{t('membership.withdraw.ends', { plan })}</li>
        <li>{t('membership.withdraw.mail')}</li>
        <li>{t('membership.withdraw.until', { date: formatDate(lang, until, 'exact') })}</li>
      </ul>
      <form className="form" method="post" action={action}>
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
