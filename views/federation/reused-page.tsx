import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Script } from '../parts/script.tsx';
import { SummaryList } from '../parts/summary-list.tsx';

export interface ReusedPageProps {
  ctx: PageContext;
  action: string;
  /** The name of the provider. */
  provider: string;
  /** The visitor's data at the provider; either may be ''. */
  there: { name: string; email: string };
  backHref: string;
}

/** Asks whether the linked user name at the provider was the visitor's before. */
export function ReusedPage({ ctx, action, provider, there, backHref }: ReusedPageProps) {
  const { t } = ctx;
  const person = [there.name, there.email].filter((part) => part !== '').join(' · ');
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('federation.reused.title', { provider })}</h1>
        <p className="muted">{t('federation.reused.lead', { provider })}</p>
      </div>
      <SummaryList
        people
        lines={[
          {
            label: t('federation.unsolicited.who', { provider }),
            amount: person || t('federation.unsolicited.nameless'),
          },
        ]}
        note={t('federation.reused.note', { provider })}
      />
      <form className="form" method="post" action={action}>
        <Button name="act" value="mine" block>
          {t('federation.reused.mine')}
        </Button>
        <Button name="act" value="new" kind="quiet" block>
          {t('federation.reused.new')}
        </Button>
        <ButtonLink href={backHref} kind="quiet" block>
          {t('federation.unsolicited.cancel')}
        </ButtonLink>
      </form>
    </AuthLayout>
  );
}
