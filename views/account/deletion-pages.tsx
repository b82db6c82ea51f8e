import { listRefundsNow, listRefundsThen, type RefundView } from '../billing/refund-sentences.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { type Item, ItemList } from '../parts/item-list.tsx';
import { Notice } from '../parts/notice.tsx';
import { RadioCards } from '../parts/radio-cards.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';
import { EditLink } from './edit-link.tsx';

interface AcceptedTerms {
  /** Of the version. */
  label: string;
  acceptedAtMs: number | null;
}

/** The user's data: the copy of all of it, and the accepted terms; null if none were required. */
export function DataCard(props: { ctx: PageContext; dataHref: string; terms: AcceptedTerms | null }) {
  const { ctx, dataHref, terms } = props;
  const { t, lang, links } = ctx;
  const [copy, termsLabel] = [t('leaving.card.copy'), t('settings.contact.terms')];
  const items: Item[] = [
    {
      label: copy,
      value: t('leaving.card.copyValue'),
      act: <EditLink ctx={ctx} href={dataHref} what={copy} label={t('leaving.card.get')} />,
    },
  ];
  if (terms !== null) {
    const { label, acceptedAtMs } = terms;
    items.push({
      label: termsLabel,
      value:
        acceptedAtMs === null
          ? t('settings.contact.acceptedUndated', { label })
          : t('settings.contact.accepted', { label, date: formatDate(lang, acceptedAtMs) }),
      ...(links.terms !== undefined && {
        act: <EditLink ctx={ctx} href={links.terms} what={termsLabel} label={t('settings.read')} />,
      }),
    });
  }
  return (
    <Card flush title={t('leaving.card.title')}>
      <ItemList items={items} />
    </Card>
  );
}

/** The deletion of the account, the last of the settings. */
export function DeleteCard({ ctx, deleteHref, days }: { ctx: PageContext; deleteHref: string; days: number }) {
  const { t } = ctx;
  return (
    <Card flush id="delete-account-row">
      <ItemList
        items={[
          {
            label: t('leaving.deletion.title'),
            value: t('leaving.card.accountValue', { days }),
            act: (
              <EditLink ctx={ctx} href={deleteHref} what={t('leaving.card.account')} label={t('leaving.card.delete')} />
            ),
          },
        ]}
      />
    </Card>
  );
}

/** The content of the file, and the button that downloads it. */
export function DataPage({ ctx, action }: { ctx: PageContext; action: string }) {
  const { t, brand } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="download-data"
      title={t('leaving.data.title')}
      lead={t('leaving.data.lead', { brand: brand.name })}
      tab="user-data"
    >
      <form className="form" method="post" action={action} data-stays="">
        <p className="muted">{t('leaving.data.secrets')}</p>
        <ActButtons ctx={ctx} submit={t('leaving.data.submit')} cancel={t('settings.close')} tab="user-data" />
      </form>
    </AccountAction>
  );
}

interface DeleteAccountPageProps {
  ctx: PageContext;
  action: string;
  /** The days in which the deletion can be cancelled. */
  days: number;
  error?: string | undefined;
  /** Another amount is given back than the page has named. */
  problem?: ActionProblem | undefined;
  /** The user's credit, which is lost. */
  credit?: string;
  /** A paid membership that renews. */
  membership?: DeletionMembership | undefined;
  /** How it ends. */
  timing: 'period-end' | 'at-once';
}

interface DeletionMembership {
  planName: string | undefined;
  /** End of the paid period (milliseconds since the epoch). */
  until: number | null;
  /** Its renewal could not be charged: it ends at once. */
  unpaid: boolean;
  /** Nothing of it is paid yet. */
  isTrial?: boolean | undefined;
  /** It ends before its paid period, and the rest of what is paid is given back. */
  end?: RefundView | undefined;
}

/** An amount that becomes credit again does so for the days until the deletion alone. */
const creditLost = ({ t }: PageContext, { credit }: RefundView): string[] =>
  credit === undefined ? [] : [t('leaving.deletion.membership.creditLost')];

/** The later end of a paid membership, and that at once, with what each gives back. */
function listChoices(ctx: PageContext, { until, end, isTrial }: DeletionMembership, days: number) {
  const { t, lang } = ctx;
  const now = t('leaving.deletion.membership.now');
  if (end && end.endsAt !== null) {
    const refunds = [...listRefundsThen(ctx, end), ...creditLost(ctx, end)];
    const details = [...refunds, t('leaving.deletion.membership.onNoticeDetail')];
    return [
      {
        title: t('leaving.deletion.membership.onNotice', { date: formatDate(lang, end.endsAt) }),
        detail: details.join(' '),
      },
      { title: now, detail: t('leaving.deletion.membership.nowOnNotice', { count: days }) },
    ] as const;
  }
  if (isTrial && until !== null) {
    return [
      {
        title: t('leaving.deletion.membership.laterOfTrial'),
        detail: t('leaving.deletion.membership.laterDetailOfTrial', { date: formatDate(lang, until) }),
      },
      { title: now, detail: t('leaving.deletion.membership.nowDetailOfTrial', { count: days }) },
    ] as const;
  }
  const detail =
    until === null
      ? t('leaving.deletion.membership.laterDetail')
      : t('leaving.deletion.membership.laterDetailDate', { date: formatDate(lang, until) });
  return [
    { title: t('leaving.deletion.membership.later'), detail },
    { title: now, detail: t('leaving.deletion.membership.nowDetail', { count: days }) },
  ] as const;
}

type SubscriptionChoiceProps = Pick<DeleteAccountPageProps, 'ctx' | 'days' | 'timing'> & {
  membership: DeletionMembership;
};

/** The end of the membership: at the end of the paid period, unless the user chooses otherwise. */
function SubscriptionChoice({ ctx, membership, days, timing }: SubscriptionChoiceProps) {
  const { planName, unpaid, end } = membership;
  const { t } = ctx;
  const plan = planName ?? t('leaving.deletion.membership.plan');
  if (unpaid) return <p>{t('leaving.deletion.membership.unpaid', { plan })}</p>;
  if (end?.endsAt === null) {
    const effects = [
      t('membership.withdraw.ends', { plan }),
      ...listRefundsNow(ctx, end),
      ...creditLost(ctx, end),
      t('leaving.deletion.membership.staysEnded', { count: days }),
    ];
    return (
      <>
        <HiddenFields fields={end.fields} />
        <p>{effects.join(' ')}</p>
      </>
    );
  }
  const [later, now] = listChoices(ctx, membership, days);
  return (
    <>
      {end && <HiddenFields fields={end.fields} />}
      <RadioCards
        name="membership"
        legend={t('leaving.deletion.membership.legend', { plan })}
        value={timing}
        cards={[
          { value: 'period-end', ...later },
          { value: 'at-once', ...now },
        ]}
      />
    </>
  );
}

/** The consequences of the deletion, before it happens. */
export function DeleteAccountPage(props: DeleteAccountPageProps) {
  const { ctx, action, days, error, problem, membership, timing, credit } = props;
  const { t, brand } = ctx;
  return (
    <AccountAction
      ctx={ctx}
      id="delete-account"
      title={t('leaving.deletion.title')}
      lead={t('leaving.deletion.lead', { brand: brand.name })}
      tab="user-data"
      problem={problem}
    >
      <ul className="points">
        <li>{t('leaving.deletion.now')}</li>
        <li>{t('leaving.deletion.wait', { count: days })}</li>
        <li>{t('leaving.deletion.then')}</li>
        {credit !== undefined && <li>{t('leaving.deletion.credit', { amount: credit })}</li>}
        <li>{t('leaving.deletion.apps')}</li>
        <li>{t('leaving.deletion.kept')}</li>
      </ul>
      <form className="form" method="post" action={action} noValidate>
        {membership && <SubscriptionChoice ctx={ctx} membership={membership} days={days} timing={timing} />}
        <Checkbox name="confirm" label={t('leaving.deletion.confirm')} error={error} />
        <ActButtons
          ctx={ctx}
          danger
          submit={t('leaving.deletion.submit')}
          cancel={t('leaving.deletion.keep')}
          tab="user-data"
        />
      </form>
    </AccountAction>
  );
}

/** Above the settings, for a day: a sign-in has cancelled a deletion. */
export function DeletionCancelledNotice({ ctx, requestedAtMs }: { ctx: PageContext; requestedAtMs: number }) {
  const { t, lang } = ctx;
  return (
    <Notice kind="info" title={t('leaving.cancelled.title')}>
      {t('leaving.cancelled.notice', { date: formatDate(lang, requestedAtMs, 'moment') })}
    </Notice>
  );
}

/** Above the settings, while it is pending: an operator was asked to remove the second factor. */
export function FactorResetNotice({ ctx, href, dueAtMs }: { ctx: PageContext; href: string; dueAtMs: number }) {
  const { t, lang } = ctx;
  const closeLabel = t('common.close');
  return (
    <Notice
      kind="error"
      title={t('leaving.reset.title')}
      acts={
        <>
          <DialogLink ctx={ctx} href={href} label={t('leaving.reset.stop')} closeLabel={closeLabel} primary />
          <DialogLink
            ctx={ctx}
            href="/settings/password"
            label={t('settings.password.title')}
            closeLabel={closeLabel}
          />
        </>
      }
    >
      {t('leaving.reset.notice', { date: formatDate(lang, dueAtMs, 'moment') })}
    </Notice>
  );
}

interface FactorResetPageProps {
  ctx: PageContext;
  action: string;
  requestedAtMs: number;
  dueAtMs: number;
}

export function FactorResetPage({ ctx, action, requestedAtMs, dueAtMs }: FactorResetPageProps) {
  const { t, lang } = ctx;
  const dates = { asked: formatDate(lang, requestedAtMs, 'moment'), due: formatDate(lang, dueAtMs, 'moment') };
  return (
    <AccountAction
      ctx={ctx}
      id="factor-reset"
      title={t('leaving.reset.stopTitle')}
      lead={t('leaving.reset.stopLead', dates)}
      tab="mfa-data"
    >
      <form className="form" method="post" action={action}>
        <ActButtons ctx={ctx} submit={t('leaving.reset.stopSubmit')} cancel={t('leaving.reset.leave')} tab="mfa-data" />
      </form>
    </AccountAction>
  );
}
