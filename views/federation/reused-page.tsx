import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { type PersonThere, ProviderAccountQuestion } from './provider-question.tsx';

interface ReusedPageProps {
  ctx: PageContext;
  action: string;
  /** The name of the provider. */
  provider: string;
  there: PersonThere;
  backHref: string;
}

/** Asks whether the linked user name at the provider was the visitor's before. */
export function ReusedPage({ ctx, action, provider, there, backHref }: ReusedPageProps) {
  const { t } = ctx;
  return (
    <ProviderAccountQuestion
      ctx={ctx}
      title={t('federation.reused.title', { provider })}
      lead={t('federation.reused.lead', { provider })}
      provider={provider}
      there={there}
      note={t('federation.reused.note', { provider })}
    >
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
    </ProviderAccountQuestion>
  );
}
