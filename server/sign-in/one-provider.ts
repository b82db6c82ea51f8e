import { OneProviderPage } from '../../views/sign-in/one-provider-page.tsx';
import { acceptsBrowser, hintedProvider, type Provider, toProviderButton } from '../federation/index.ts';
import type { Continuation, RequestContext } from '../http/index.ts';
import type { PendingAuthorization, SignInDeps, SignInPageState } from './deps.ts';

/** The value of `ways` in the address of the page with all sign-in methods. */
const allWays = 'all';

/**
 * The provider that a pending request asks for. Undefined if the visitor wants to see all methods, or the provider does
 * not support this browser. The user must press the button: a GET never starts an attempt, because any site can cause
 * one.
 */
export function providerAskedFor(
  r: RequestContext,
  { federation }: Pick<SignInDeps, 'federation'>,
  pending: PendingAuthorization | undefined,
): Provider | undefined {
  if (r.query('ways') === allWays) return undefined;
  const provider = hintedProvider(federation.providers, pending?.providerHint);
  return provider && acceptsBrowser(provider, r.req.get('user-agent')) ? provider : undefined;
}

export function renderOneProviderPage(
  r: RequestContext,
  provider: Provider,
  {
    continuation: { search },
    pending,
    providerNotice,
  }: { continuation: Continuation; pending: PendingAuthorization | undefined } & Pick<
    SignInPageState,
    'providerNotice'
  >,
): void {
  const parameters = new URLSearchParams(search);
  parameters.set('ways', allWays);
  r.render(
    OneProviderPage,
    {
      providerButton: toProviderButton(provider, r, `/federation/${provider.id}${search}`),
      username: pending?.loginHint ?? '',
      otherWays: `/?${parameters}`,
      clientName: pending?.clientName,
      noticeName: providerNotice,
    },
    { title: 'signIn.title', address: `/${search}`, search },
  );
}
