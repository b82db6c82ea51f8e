import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Script } from '../parts/script.tsx';

interface SignOutPageProps {
  ctx: PageContext;
  action: string;
  fields: Record<string, string>;
  /** The requesting client app. */
  clientName?: string;
  /** The request has an address to return to, and names no app that has registered it. */
  fromUnknownApp?: true;
  /** A sign-in to the client app follows. */
  switches?: true;
  memberEmail?: string;
  /** The provider of the sign-in, and whether a logout here also ends the session there. */
  upstream?: { name: string; ends: boolean };
  /** The link back; the start page redirects a signed-in user. */
  backHref?: string;
}

/** Asks when a link from an unknown place would sign the user out (`security.md`, rule 12). */
export function SignOutPage({
  ctx,
  action,
  fields,
  clientName,
  fromUnknownApp,
  switches,
  memberEmail,
  upstream,
  backHref = '/',
}: SignOutPageProps) {
  const { t } = ctx;
  const after = [
    ...(fromUnknownApp ? [t('oauth.signOut.fromUnknownApp')] : []),
    ...(switches && clientName !== undefined ? [t('oauth.signOut.switches', { clientName })] : []),
    ...(upstream === undefined
      ? []
      : [t(upstream.ends ? 'oauth.signOut.endsAt' : 'oauth.signOut.staysAt', { provider: upstream.name })]),
  ];
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('oauth.signOut.title')}</h1>
        <p className="muted">
          {clientName !== undefined && `${t('oauth.signOut.requestedBy', { clientName })} `}
          {memberEmail === undefined ? t('oauth.signOut.textPlain') : t('oauth.signOut.text', { email: memberEmail })}
        </p>
        {after.length > 0 && <p className="muted">{after.join(' ')}</p>}
      </div>
      <form className="form" method="post" action={action}>
        <HiddenFields fields={fields} />
        <Button block>{t('oauth.signOut.submit')}</Button>
        <ButtonLink href={backHref} kind="quiet" block>
          {t('oauth.signOut.back')}
        </ButtonLink>
      </form>
    </AuthLayout>
  );
}
