import { OneProviderPage } from '../../views/sign-in/one-provider-page.tsx';
import { acceptsBrowser, hintedProvider, type Provider, toProviderButton } from '../federation/index.ts';
import type { RequestContext } from '../http/index.ts';
import type { PendingAuthorization, SignInDeps, SignInPageState } from './deps.ts';

/** The value of `ways` in the address of the page with all sign-in methods. */
const allWays = 'all';

/**
 * The provider that a pending request asks for. Undefined if the visitor wants to see all methods, or the provider does
 * not support this browser.
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

/** The page with the button of one provider. */
interface OneProviderView extends Pick<SignInPageState, 'providerNotice'> {
  provider: Provider;
  pending: PendingAuthorization | undefined;
}

/** Tests whether a browser opened this page for a person: a frame or a prefetch starts no attempt. */
const isNavigation = ({ req }: RequestContext) =>
  ['document', undefined].includes(req.get('sec-fetch-dest')) &&
  !['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) => req.get(name)?.includes('prefetch'));

/**
 * Redirects a visitor to the provider that the pending request asks for. A signed-in user and a visitor who gets a
 * notice must press the button (docs/decisions/0023-requested-providers.md).
 */
export async function continueAtProvider(
  r: RequestContext,
  { federation }: Pick<SignInDeps, 'federation'>,
  { isSignedIn, ...view }: OneProviderView & { isSignedIn: boolean },
): Promise<void> {
  if (isSignedIn || view.providerNotice || !isNavigation(r)) return renderOneProviderPage(r, view);
  const loginHint = view.pending?.loginHint;
  await federation.signIn(r, view.provider, {
    continuation: r.continuation,
    remember: false,
    // Providers know addresses, not numbers.
    loginHint: loginHint?.includes('@') ? loginHint : undefined,
    at: undefined,
  });
}

function renderOneProviderPage(r: RequestContext, { provider, pending, providerNotice }: OneProviderView): void {
  const { search } = r.continuation;
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
