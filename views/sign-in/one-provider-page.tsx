import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Notice, type NoticeKind } from '../parts/notice.tsx';
import type { ProviderButtonProps } from '../parts/provider-buttons.tsx';
import { ProviderMark } from '../parts/provider-mark.tsx';
import { Script } from '../parts/script.tsx';

interface OneProviderPageProps {
  ctx: PageContext;
  /** The provider that the client app asked for. */
  providerButton: ProviderButtonProps;
  /** Sent to the provider, which need not ask for it again. */
  username: string;
  /** The whole sign-in page. */
  otherWays: string;
  clientName?: string | undefined;
  noticeName?: { kind: NoticeKind; text: string } | undefined;
}

/** The sign-in page of a request that names a provider: its button, and a link to all other methods. */
export function OneProviderPage({
  ctx,
  providerButton,
  username,
  otherWays,
  clientName,
  noticeName,
}: OneProviderPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('signIn.heading')}</h1>
        <p className="muted">{clientName === undefined ? t('signIn.lead') : t('signIn.continueTo', { clientName })}</p>
      </div>
      {noticeName !== undefined && <Notice kind={noticeName.kind}>{noticeName.text}</Notice>}
      <form className="form" method="post" action={providerButton.action}>
        {username !== '' && <input type="hidden" name="username" value={username} />}
        <Checkbox name="remember" label={t('signIn.remember')} checked={false} />
        {/* As on the whole page: a mark in its own colors needs the plain button. */}
        <Button kind="quiet" block>
          <ProviderMark mark={providerButton.mark} logo={providerButton.logo} />
          {providerButton.label}
        </Button>
      </form>
      <p className="panel-foot">
        <a href={otherWays}>{t('federation.buttons.others')}</a>
      </p>
    </AuthLayout>
  );
}
