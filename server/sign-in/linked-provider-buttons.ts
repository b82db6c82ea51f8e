import type { Request } from 'express';
import type { ProviderButtonProps } from '../../views/parts/provider-buttons.tsx';
import { acceptsBrowser, listIdentities, type Provider, toProviderButton } from '../federation/index.ts';
import type { Continuation } from '../http/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

type Deps = Pick<SignInDeps, 'pages' | 'database' | 'federation'>;

/**
 * The linked providers with which a user can authenticate, each with its address: still configured, and supporting this
 * browser.
 */
export async function listLinkedProviders(
  { database, federation }: Deps,
  req: Request,
  user: User,
): Promise<{ provider: Provider; email: NormalisedEmail | null }[]> {
  const links = await listIdentities(database.db, user.id);
  return federation.providers.all
    .filter((provider) => acceptsBrowser(provider, req.get('user-agent')))
    .flatMap((provider) => {
      const link = links.find((one) => one.provider === provider.id);
      return link ? [{ provider, email: link.email }] : [];
    });
}

/** Their buttons on /re-authenticate. */
export async function linkedProviderButtons(
  deps: Deps,
  req: Request,
  user: User,
  continuation: Continuation,
): Promise<ProviderButtonProps[]> {
  const { t, language: lang } = req;
  const providers = await listLinkedProviders(deps, req, user);
  return providers.map(({ provider }) => ({
    ...toProviderButton(provider, { t, lang }, `/re-authenticate/provider/${provider.id}${continuation.search}`),
    label: t('signIn.reauthenticate.confirmWith', { provider: provider.name }),
  }));
}
