import { membershipPath } from '../account/tabs.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';

interface GiftPageProps {
  ctx: PageContext;
  action: string;
  /** In the field. */
  code: string;
  error?: string;
  notice?: PageNoticeProps;
  /** For a user without a code. */
  other: { href: string; label: string };
}

/** Redeems a gift code. */
export function GiftPage({ ctx, action, code, error, notice, other }: GiftPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} signOut>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('checkout.gift.heading')}</h1>
        <p className="muted">{t('checkout.gift.lead')}</p>
      </div>
      <PageNotice ctx={ctx} notice={notice} />
      <form className="form" method="post" action={action} noValidate>
        <Field
          name="code"
          label={t('checkout.gift.code')}
          hint={t('checkout.gift.hint')}
          error={error}
          defaultValue={code}
          autoCapitalize="characters"
          autoComplete="off"
          spellCheck={false}
          maxLength={60}
        />
        <Button block>{t('checkout.gift.submit')}</Button>
        <ButtonLink kind="quiet" block href={other.href}>
          {other.label}
        </ButtonLink>
      </form>
      {other.href !== membershipPath && (
        <p className="panel-ways">
          <a href={membershipPath}>{t('payment.saved.back')}</a>
        </p>
      )}
    </AuthLayout>
  );
}
