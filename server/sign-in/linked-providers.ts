import type { Request } from 'express';
import type { ProviderDoor } from '../../views/parts/provider-doors.tsx';
import type { User } from '../account/index.ts';
import { doorOf, listIdentities, type Provider, takes } from '../federation/index.ts';
import type { Errand } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';

type Deps = Pick<SignInDeps, 'pages' | 'database' | 'federation'>;

/**
 * The providers by which a member can show who they are, each with the address there: linked, configured still, and taking
 * this browser.
 */
export async function linkedProviders(
  { database, federation }: Deps,
  req: Request,
  user: User,
): Promise<{ provider: Provider; email: string | null }[]> {
  const links = await listIdentities(database.db, user.id);
  return federation.providers.all
    .filter((provider) => takes(provider, req.get('user-agent')))
    .flatMap((provider) => {
      const link = links.find((one) => one.provider === provider.id);
      return link ? [{ provider, email: link.email }] : [];
    });
}

/** Their buttons on /re-authenticate. */
export async function doorsAgain(deps: Deps, req: Request, user: User, errand: Errand): Promise<ProviderDoor[]> {
  const { t, language: lang } = req;
  const providers = await linkedProviders(deps, req, user);
  return providers.map(({ provider }) => ({
    ...doorOf(provider, { t, lang }, `/re-authenticate/provider/${provider.id}${errand.search}`),
    label: t('federation.again.confirmWith', { provider: provider.name }),
  }));
}
