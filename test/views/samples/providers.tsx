import { standardProviders } from '../../../config/standard-providers.ts';
import { DataCard, DeleteCard } from '../../../views/account/deletion-pages.tsx';
import { PasskeyRemovePage } from '../../../views/account/passkey-pages.tsx';
import { PasswordPage } from '../../../views/account/password-page.tsx';
import { ProviderLinkPage, ProviderRemovePage } from '../../../views/account/provider-pages.tsx';
import { type LinkedProviderView, ProvidersPage } from '../../../views/account/providers-page.tsx';
import { ConnectedAppsCard, SignInCard } from '../../../views/account/sign-in-card.tsx';
import { PlainLayout } from '../../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { RecentFactorsPage } from '../../../views/password/recent-factors-page.tsx';

const dayMs = 1767225600000;

/** Pages of members who sign in by a provider. */
export function providerSamples(ctx: PageContext) {
  const { t } = ctx;
  const links: LinkedProviderView[] = [
    {
      id: 'a',
      name: 'Google',
      mark: standardProviders.google.mark,
      logo: undefined,
      email: 'vera.fyfe@example.com',
      linkedAt: dayMs,
      lastUsedAt: dayMs,
      offered: true,
    },
    {
      id: 'b',
      name: 'Fyfe & <Co>',
      mark: undefined,
      logo: undefined,
      email: null,
      linkedAt: dayMs,
      lastUsedAt: null,
      offered: false,
    },
  ];
  const others = [{ id: 'facebook', name: 'Facebook', mark: standardProviders.facebook.mark, logo: undefined }];
  const act = { ctx, action: '/settings/providers/remove?link=a' };
  const google = { provider: 'Google', account: 'Google (vera.fyfe@example.com)' };
  const known = { email: 'vera.fyfe@example.com', givenName: 'Vera', familyName: 'Fyfe' };
  const way = (id: string, name: string) => ({ id, name, createdAt: dayMs });
  return {
    providers: {
      page: (
        <ProvidersPage
          ctx={ctx}
          links={links}
          others={others}
          endsAt={[]}
          notice={{ kind: 'success', text: t('federation.linked.done.linked') }}
        />
      ),
    },
    'providers-none': { page: <ProvidersPage ctx={ctx} links={[]} others={[]} endsAt={['Fyfe & <Co>']} /> },
    'provider-link': { page: <ProviderLinkPage {...act} provider="Google" /> },
    'provider-link-embedded': {
      page: (
        <ProviderLinkPage
          {...act}
          provider="Google"
          instead={t('federation.buttons.embedded', { providers: 'Google', place: 'https://login.example.com' })}
        />
      ),
    },
    'provider-remove': { page: <ProviderRemovePage {...act} {...google} isLast={false} /> },
    'provider-remove-last': { page: <ProviderRemovePage {...act} {...google} isLast /> },
    'passkey-remove-last': { page: <PasskeyRemovePage {...act} name="Key" isLast /> },
    'password-first': {
      page: (
        <PasswordPage
          ctx={ctx}
          action="/settings/password"
          member={known}
          isFirst
          errors={{ newPassword: t('settings.password.newEmpty') }}
        />
      ),
    },
    'reset-ways-in': {
      page: (
        <RecentFactorsPage
          ctx={ctx}
          action="/reset-password/ways-in"
          signInHref="/"
          passkeys={[way('a', 'Key')]}
          links={[way('b', 'Google (vera.fyfe@example.com)')]}
        />
      ),
    },
    'sign-in-card-linked': {
      page: (
        <PlainLayout ctx={ctx} shape="wide">
          <h1>{t('settings.title')}</h1>
          <SignInCard
            ctx={ctx}
            email="vera.fyfe@example.com"
            emailVerified
            phone="+31 6 12345642"
            phoneVerified={false}
            linked={{ names: ['Google', 'Fyfe & <Co>'], href: '/settings/providers' }}
          />
          <SignInCard
            ctx={ctx}
            email="vera.fyfe@example.com"
            emailVerified={false}
            phone={null}
            phoneVerified={false}
            password={{ changedAtMs: 1767225600000 }}
            passkeys={{ count: 2, href: '/settings/passkeys' }}
          />
          <ConnectedAppsCard ctx={ctx} count={2} href="/settings/apps" />
          <DataCard ctx={ctx} dataHref="/settings/data" terms={{ label: '1.0.0', acceptedAtMs: 1767225600000 }} />
          <DeleteCard ctx={ctx} deleteHref="/settings/delete-account" days={30} />
        </PlainLayout>
      ),
    },
  };
}
