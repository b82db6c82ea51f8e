import { RedirectPage } from '../../../views/layout/redirect-page.tsx';
import { ConsentPage } from '../../../views/oidc/consent-page.tsx';
import { scopeTexts } from '../../../views/oidc/scope-texts.ts';
import { SignOutPage } from '../../../views/oidc/sign-out-page.tsx';
import { VerifyUserPage } from '../../../views/oidc/verify-user-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

/** The pages of the OpenID Provider. */
export function oauthSamples(ctx: PageContext): Record<string, Sample> {
  const { t } = ctx;
  const clientName = 'Showcase pages';
  const fields = { authorization_code: 'x8Zr3', state: 'a"b<c' };
  const scopes = scopeTexts(t, [
    'openid',
    'profile',
    'email',
    'phone',
    'membership',
    'offline_access',
    'account',
    'account:security',
    'account:payments',
    'wallet',
  ]);
  return {
    'verify-user': {
      page: <VerifyUserPage ctx={ctx} action="/storage" fields={fields} clientName={clientName} />,
    },
    'going-on': {
      page: <RedirectPage ctx={ctx} href="https://client.example/cb?code=a&state=b" to={{ clientName }} />,
    },
    'going-on-plain': { page: <RedirectPage ctx={ctx} href="com.example.app:/cb" to={{}} /> },
    'going-on-to-a-provider': {
      page: <RedirectPage ctx={ctx} href="https://idp.example/authorize?state=a" to={{ providerName: 'Acme' }} />,
    },
    consent: {
      page: (
        <ConsentPage
          ctx={ctx}
          action="/consent"
          fields={fields}
          clientId="ledger"
          clientName="Ledger & Sons"
          clientHost="ledger.example"
          clientPages={{
            website: 'https://ledger.example/',
            privacy: 'https://ledger.example/privacy',
            terms: undefined,
          }}
          reason="third-party"
          scopes={scopes.slice(0, 4)}
          memberEmail={member.email}
        />
      ),
    },
    'consent-native': {
      page: (
        <ConsentPage
          ctx={ctx}
          action="/consent"
          fields={fields}
          clientId="pocket"
          clientName="Pocket"
          clientLogo="https://pocket.example/logo.png"
          clientHost="com.example.pocket"
          reason="native"
          scopes={scopes}
          memberEmail={member.email}
        />
      ),
    },
    'consent-asked': {
      page: (
        <ConsentPage
          ctx={ctx}
          action="/consent"
          fields={fields}
          clientId="pages"
          clientName={clientName}
          clientHost="pages.example"
          reason="prompt"
          scopes={scopes.slice(0, 1)}
          memberEmail={member.email}
        />
      ),
    },
    'sign-out': {
      page: (
        <SignOutPage ctx={ctx} action="/logout" fields={fields} memberEmail={member.email} clientName={clientName} />
      ),
    },
    'sign-out-to-switch': {
      page: (
        <SignOutPage
          ctx={ctx}
          action="/logout"
          fields={fields}
          memberEmail={member.email}
          clientName={clientName}
          switches
        />
      ),
    },
    'sign-out-of-a-provider-too': {
      page: (
        <SignOutPage
          ctx={ctx}
          action="/logout"
          fields={{}}
          memberEmail={member.email}
          upstream={{ name: 'Acme', ends: true }}
        />
      ),
    },
    'sign-out-not-of-a-provider': {
      page: <SignOutPage ctx={ctx} action="/logout" fields={{}} upstream={{ name: 'Google', ends: false }} />,
    },
    'sign-out-for-an-unknown-app': {
      page: <SignOutPage ctx={ctx} action="/logout" fields={{}} memberEmail={member.email} fromUnknownApp />,
    },
    'sign-out-plain': { page: <SignOutPage ctx={ctx} action="/logout" fields={{}} /> },
  };
}
