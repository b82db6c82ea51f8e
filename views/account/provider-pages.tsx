import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { providersHref } from './providers-page.tsx';
import { LastSignInMethodNotice, RowAction, RowActions } from './row-action.tsx';

const place = ({ t }: PageContext) => ({ href: providersHref, heading: t('federation.linked.title') });

interface ProviderLinkPageProps {
  ctx: PageContext;
  action: string;
  /** The provider's name. */
  provider: string;
  /** The advice if the provider does not support this browser. */
  instead?: string | undefined;
}

/** The effect of a link, before the user goes to the provider. */
export function ProviderLinkPage({ ctx, action, provider, instead }: ProviderLinkPageProps) {
  const { t } = ctx;
  return (
    <RowAction
      ctx={ctx}
      place={place(ctx)}
      id="link-provider"
      title={t('federation.linked.linking.title', { provider })}
      lead={t('federation.linked.linking.lead', { provider })}
    >
      {instead === undefined ? (
        <form className="form" method="post" action={action} data-leaves="">
          <RowActions ctx={ctx} href={providersHref}>
            <Button>{t('federation.linked.linking.submit', { provider })}</Button>
          </RowActions>
        </form>
      ) : (
        <Notice kind="info">{instead}</Notice>
      )}
    </RowAction>
  );
}

interface ProviderRemovePageProps {
  ctx: PageContext;
  action: string;
  /** The provider's name. */
  provider: string;
  /** The user's name for it: "Google (vera@example.com)". */
  account: string;
  /** It is the last sign-in method. */
  isLast: boolean;
}

export function ProviderRemovePage({ ctx, action, provider, account, isLast }: ProviderRemovePageProps) {
  const { t } = ctx;
  return (
    <RowAction
      ctx={ctx}
      place={place(ctx)}
      id="remove-provider"
      title={t('federation.linked.removing.title', { provider })}
      lead={t('federation.linked.removing.lead', { account })}
    >
      {isLast ? (
        <LastSignInMethodNotice ctx={ctx} href={providersHref} />
      ) : (
        <form className="form" method="post" action={action}>
          <RowActions ctx={ctx} href={providersHref}>
            <Button kind="danger">{t('federation.linked.removing.submit')}</Button>
          </RowActions>
        </form>
      )}
    </RowAction>
  );
}
