import { SeatsField } from '../billing/seats-box.tsx';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';

interface ChangeSeatsProps {
  ctx: PageContext;
  action: string;
  problem?: ActionProblem | undefined;
  plan: string;
  /** The present number. */
  seats: number;
  range: { min: number; max: number };
  /** Of one seat: `$99 a month per seat`. */
  price: string;
  /** The end of the paid period (milliseconds since the epoch); null: unknown. */
  until: number | null;
  typed?: string | undefined;
  error?: string | undefined;
}

/** Another number of seats; the next page names the amount. */
export function ChangeSeatsPage(props: ChangeSeatsProps) {
  const { ctx, action, problem, plan, seats, range, price, until, typed, error } = props;
  const { t, lang } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="change-seats"
      title={t('membership.seats.title')}
      lead={`${t('membership.seats.lead', { plan, count: seats })} ${t('membership.seats.price', { price })}`}
      tab="membership"
      problem={problem}
    >
      <ul className="points">
        <li>{t('membership.seats.more')}</li>
        {until !== null && <li>{t('membership.seats.fewer', { date: formatDate(lang, until) })}</li>}
        <li>{t('membership.seats.before')}</li>
      </ul>
      <form className="form" method="post" action={action} noValidate>
        <SeatsField t={t} range={range} typed={typed ?? String(seats)} error={error} />
        <ActButtons
          ctx={ctx}
          submit={t('membership.seats.submit')}
          cancel={t('membership.seats.keep')}
          tab="membership"
        />
      </form>
    </AccountAction>
  );
}
