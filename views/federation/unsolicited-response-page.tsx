import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Script } from '../parts/script.tsx';
import { SummaryList } from '../parts/summary-list.tsx';

export interface UnsolicitedResponsePageProps {
  ctx: PageContext;
  action: string;
  fields: Record<string, string>;
  /** The name of the provider. */
  provider: string;
  /** The person's data there; either may be ''. */
  there: { name: string; email: string };
  /** The link back. */
  backHref: string;
}

/** Asks before an unsolicited response signs a visitor in: anyone could have sent them here. */
export function UnsolicitedResponsePage({
  ctx,
  action,
  fields,
  provider,
  there,
  backHref,
}: UnsolicitedResponsePageProps) {
  const { t } = ctx;
  const person = [there.name, there.email].filter((part) => part !== '').join(' · ');
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('federation.unsolicited.title', { provider })}</h1>
        <p className="muted">{t('federation.unsolicited.lead', { provider })}</p>
      </div>
      <SummaryList
        people
        lines={[
          {
            label: t('federation.unsolicited.who', { provider }),
            amount: person || t('federation.unsolicited.nameless'),
          },
        ]}
        note={t('federation.unsolicited.notYours', { provider })}
      />
      <form className="form" method="post" action={action}>
        <HiddenFields fields={fields} />
        <Button block>{t('federation.unsolicited.submit')}</Button>
        <ButtonLink href={backHref} kind="quiet" block>
          {t('federation.unsolicited.cancel')}
        </ButtonLink>
      </form>
    </AuthLayout>
  );
}
