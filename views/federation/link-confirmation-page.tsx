import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Script } from '../parts/script.tsx';
import { SummaryList } from '../parts/summary-list.tsx';

export interface LinkConfirmationPageProps {
  ctx: PageContext;
  action: string;
  /** A new link, or an existing one whose subject may have been reassigned. */
  about?: 'linkConfirmation' | 'keepLink';
  /** The name of the provider. */
  provider: string;
  /** Of the signed-in user. */
  email: string;
  /** The person's data at the provider; either may be ''. */
  there: { name: string; email: string };
}

/** Asks a user who has just proven their account whether the identity should sign them in from now on. */
export function LinkConfirmationPage({
  ctx,
  action,
  about = 'linkConfirmation',
  provider,
  email,
  there,
}: LinkConfirmationPageProps) {
  const { t } = ctx;
  const person = [there.name, there.email].filter((part) => part !== '').join(' · ');
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t(`federation.${about}.title`, { provider })}</h1>
        <p className="muted">{t(`federation.${about}.lead`, { provider })}</p>
      </div>
      <SummaryList
        people
        lines={[
          { label: t(`federation.${about}.there`, { provider }), amount: person },
          { label: t(`federation.${about}.here`), amount: email },
        ]}
        note={t(`federation.${about}.notYours`, { provider })}
      />
      <form className="actions even" method="post" action={action}>
        <Button name="act" value="not-now" kind="quiet">
          {t(`federation.${about}.notNow`)}
        </Button>
        <Button name="act" value="link">
          {t(`federation.${about}.link`)}
        </Button>
      </form>
    </AuthLayout>
  );
}
