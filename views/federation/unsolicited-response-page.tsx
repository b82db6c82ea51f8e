import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { type PersonThere, ProviderAccountQuestion } from './provider-question.tsx';

interface UnsolicitedResponsePageProps {
  ctx: PageContext;
  action: string;
  fields: Record<string, string>;
  /** The name of the provider. */
  provider: string;
  there: PersonThere;
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
  return (
    <ProviderAccountQuestion
      ctx={ctx}
      title={t('federation.unsolicited.title', { provider })}
      lead={t('federation.unsolicited.lead', { provider })}
      provider={provider}
      there={there}
      note={t('federation.unsolicited.notYours', { provider })}
    >
      <form className="form" method="post" action={action}>
        <HiddenFields fields={fields} />
        <Button block>{t('federation.unsolicited.submit')}</Button>
        <ButtonLink href={backHref} kind="quiet" block>
          {t('federation.unsolicited.cancel')}
        </ButtonLink>
      </form>
    </ProviderAccountQuestion>
  );
}
