import { ProviderLinkPage } from '../../../views/account/provider-pages.tsx';
import { providersHref } from '../../../views/account/providers-page.tsx';
import { acceptsBrowser, FederationError, loginPageUrl, type Provider } from '../../federation/index.ts';
import { type AddPage, HttpError, type RequestContext } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';

/** The provider in the address. @throws {HttpError} notFound */
function findNamedProvider(r: RequestContext, { federation }: AccountDeps): Provider {
  const provider = federation.providers.find(r.query('provider') ?? '');
  if (!provider) throw new HttpError('notFound', { detail: 'no such provider' });
  return provider;
}

/** GET /settings/providers/link?provider=: starts nothing. */
function show(r: UserRequest, deps: AccountDeps) {
  const provider = findNamedProvider(r, deps);
  const { name } = provider;
  const { originalUrl: address } = r.req;
  const place = new URL(providersHref, deps.publicUrl).href;
  const isAccepted = acceptsBrowser(provider, r.req.get('user-agent'));
  const instead = isAccepted ? undefined : r.t('federation.buttons.embedded', { providers: name, place });
  const title = r.t('federation.linked.linking.title', { provider: name });
  r.render(ProviderLinkPage, { action: address, provider: name, instead }, { title: () => title, address });
}

/** POST: to the provider, only for this user in this session (`security.md`, rule 15). */
async function begin(r: UserRequest, deps: AccountDeps) {
  const { user, session } = r;
  const provider = findNamedProvider(r, deps);
  const intent = { kind: 'link', userId: user.id, sessionIdHash: session.idHash } as const;
  // Otherwise the person of a live session at the provider would be linked without a question.
  const beginning = { intent, continuation: { search: '' }, remember: session.remember, forceFresh: true };
  try {
    const href = await deps.federation.begin(r, provider, beginning);
    r.redirectAway(href, { providerName: provider.name });
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    const outcome = { provider: provider.id, outcome: error.kind, detail: error.detail };
    r.log.info({ act: 'federation-link', ...outcome }, 'account link');
    r.redirect(loginPageUrl({ intent, continuation: '' }, provider, error.kind));
  }
}

export function linkProviderRoutes(add: AddPage<AccountDeps>): void {
  add(`${providersHref}/link`, { get: requireRecentAuth(show), post: requireRecentAuth(begin) });
}
