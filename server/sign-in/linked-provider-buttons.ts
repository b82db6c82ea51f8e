import type { ProviderButtonProps } from '../../views/parts/provider-buttons.tsx';
import { acceptsBrowser, listIdentities, type Provider, toProviderButton } from '../federation/index.ts';
import type { Continuation, RequestContext } from '../http/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

type Deps = Pick<SignInDeps, 'database' | 'federation'>;

/**
 * The linked providers with which a user can authenticate, each with its address: still configured, and supporting this
 * browser.
 */
export async function listLinkedProviders(
  r: RequestContext,
  { database, federation }: Deps,
  user: User,
): Promise<{ provider: Provider; email: NormalisedEmail | null }[]> {
  const links = await listIdentities(database.db, user.id);
  return federation.providers.all
    .filter((provider) => acceptsBrowser(provider, r.req.get('user-agent')))
    .flatMap((provider) => {
      const link = links.find((one) => one.provider === provider.id);
      return link ? [{ provider, email: link.email }] : [];
    });
}

/** Their buttons on /re-authenticate. */
export async function linkedProviderButtons(
  r: RequestContext,
  deps: Deps,
  { user, continuation }: { user: User; continuation: Continuation },
): Promise<ProviderButtonProps[]> {
  const { t, lang } = r;
  const providers = await listLinkedProviders(r, deps, user);
  return providers.map(({ provider }) => ({
    ...toProviderButton(provider, { t, lang }, `/re-authenticate/provider/${provider.id}${continuation.search}`),
    label: t('signIn.reauthenticate.confirmWith', { provider: provider.name }),
  }));
}
