import type { RefundView } from '../billing/refund-sentences.ts';
import { formatDate } from '../format.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { ContactLink } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { listRefundEffects } from './cancel-membership-pages.tsx';
import { membershipPath } from './tabs.ts';

interface CancelByMailPageProps {
  ctx: PageContext;
  action: string;
  email: string;
  error?: string | undefined;
  /** The reason that no link was sent. */
  problem?: string | undefined;
}

/** Asks for the address to which the link goes. */
export function CancelByMailPage({ ctx, action, email, error, problem }: CancelByMailPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('membership.cancelByMail.title')}</h1>
        <p className="muted">{t('membership.cancelByMail.lead')}</p>
      </div>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      <form className="form" method="post" action={action} noValidate>
        <Field
          name="email"
          label={t('membership.cancelByMail.email')}
          error={error}
          type="email"
          inputMode="email"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          defaultValue={email}
          autoFocus
        />
        <Button block>{t('membership.cancelByMail.submit')}</Button>
      </form>
      <p className="panel-foot muted">
        {t('membership.cancelByMail.importantReason')}
        <ContactLink ctx={ctx} />
      </p>
    </AuthLayout>
  );
}

export interface CancelByLinkPageProps {
  ctx: PageContext;
  action: string;
  /** From the link. */
  token: string;
  plan: string;
  /** The amount has changed. */
  problem?: string | undefined;
  /** The end of the paid period (milliseconds since the epoch); null: it ends at once. */
  until: number | null;
  /** It ends at once, and this is given back. */
  refund?: RefundView | undefined;
  /** A debt that is too small to be charged now, which stays. */
  owed?: string | undefined;
}

/** The page of the link: only its form cancels. */
export function CancelByLinkPage({ ctx, action, token, plan, until, refund, owed, problem }: CancelByLinkPageProps) {
  const { t, lang } = ctx;
  const ends =
    until === null
      ? t('membership.cancelByMail.atOnce')
      : t('membership.cancel.until', { date: formatDate(lang, until) });
  const effects = refund
    ? listRefundEffects(ctx, plan, refund)
    : [
        ends,
        t('membership.cancel.nothing'),
        ...(owed === undefined ? [] : [t('membership.cancel.owedStays', { amount: owed })]),
      ];
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('membership.cancelByMail.title')}</h1>
        <p className="muted">{t('membership.cancel.lead', { plan })}</p>
      </div>
      {problem !== undefined && <Notice kind="error">{problem}</Notice>}
      <ul className="points">
        {effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      <form className="form" method="post" action={action}>
        <HiddenFields fields={{ token, ...refund?.fields }} />
        <Button kind="danger" block>
          {t('membership.cancelByMail.cancelNow')}
        </Button>
        <ButtonLink kind="quiet" block href={membershipPath}>
          {t('membership.cancel.keep')}
        </ButtonLink>
      </form>
    </AuthLayout>
  );
}

/** The end of a step, with the way to the membership. */
export function CancelLinkMessagePage({
  ctx,
  email,
  message,
}: {
  ctx: PageContext;
  /** The address that was entered; undefined: the page was opened again. */
  email?: string | undefined;
  message: 'sent' | 'done' | 'noted' | 'nothing' | 'expired';
}) {
  const { t, links } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <div className="panel-head">
        <h1>{t(`membership.cancelByMail.${message}.title`)}</h1>
        <p className="muted">
          {message === 'sent' && email !== undefined
            ? t('membership.cancelByMail.sent.textFor', { email })
            : t(`membership.cancelByMail.${message}.text`)}
        </p>
      </div>
      <ButtonLink
        href={message === 'expired' ? (links.cancelMembership ?? '/') : (links.signIn ?? '/')}
        kind="quiet"
        block
      >
        {t(message === 'expired' ? 'membership.cancelByMail.again' : 'membership.cancelByMail.signIn')}
      </ButtonLink>
    </AuthLayout>
  );
}
