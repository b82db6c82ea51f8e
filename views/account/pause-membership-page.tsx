import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { RadioCards } from '../parts/radio-cards.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';

interface PauseOption {
  months: number;
  /** Milliseconds since the epoch. */
  resumesAt: number;
  /** The charge at its end. */
  amount: string;
  /** Sentences on that charge: what credit pays of it, and later amounts ('': none). */
  more: string;
}

interface PauseMembershipProps {
  ctx: PageContext;
  action: string;
  problem?: ActionProblem | undefined;
  /** Of the choice. */
  error?: string | undefined;
  plan: string;
  /** The end of the paid period (milliseconds since the epoch). */
  until: number;
  /** The plan that the user has meanwhile. */
  base?: string | undefined;
  options: readonly PauseOption[];
  /** The chosen number of months. */
  chosen?: string | undefined;
  /** Hidden fields: the announced days and amounts of each option. */
  fields: Record<string, string>;
}

/** A pause of the plan: all of its days and amounts, before it happens. */
export function PauseMembershipPage(props: PauseMembershipProps) {
  const { ctx, action, problem, error, plan, until, base, options, chosen, fields } = props;
  const { t, lang } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="pause-membership"
      title={t('membership.pause.title')}
      lead={t('membership.pause.lead', { plan })}
      tab="membership"
      problem={problem}
    >
      <ul className="points">
        <li>{t('membership.pause.until', { date: formatDate(lang, until) })}</li>
        <li>{base === undefined ? t('membership.pause.none') : t('membership.pause.base', { plan: base })}</li>
        <li>{t('membership.pause.early')}</li>
      </ul>
      <form className="form" method="post" action={action}>
        <HiddenFields fields={fields} />
        <RadioCards
          name="months"
          legend={t('membership.pause.legend')}
          value={chosen ?? String(options[0]?.months ?? '')}
          error={error}
          cards={options.map(({ months, resumesAt, amount, more }) => ({
            value: String(months),
            title: t('membership.pause.months', { count: months }),
            detail: `${t('membership.pause.then', { date: formatDate(lang, resumesAt), amount })} ${more}`.trim(),
          }))}
        />
        <ActButtons
          ctx={ctx}
          submit={t('membership.pause.submit')}
          cancel={t('membership.pause.keep')}
          tab="membership"
        />
      </form>
    </AccountAction>
  );
}
