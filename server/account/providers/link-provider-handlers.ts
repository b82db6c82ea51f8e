import { ProviderLinkPage } from '../../../views/account/provider-pages.tsx';
import { providersHref } from '../../../views/account/providers-page.tsx';
import { acceptsBrowser, FederationError, loginPageAfter, type Provider } from '../../federation/index.ts';
import { HttpError, type RequestContext } from '../../http/index.ts';
import type { AccountDeps } from '../deps.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';

/** The provider in the address. @throws {HttpError} notFound */
function findNamedProvider(r: RequestContext, { federation }: AccountDeps): Provider {
  const provider = federation.providers.find(r.query('provider') ?? '');
  if (!provider) throw new HttpError('notFound', { detail: 'no such provider' });
  return provider;
}

/** The visit starts nothing; the form leads to the provider, only for this user in this session (`security.md`, rule 15). */
export const linkProviderPage = settingsPage({
  path: `${providersHref}/link`,
  withQuery: true,
  title: (t, { provider }) => t('federation.linked.linking.title', { provider }),
  guard: requireRecentAuth,
  Page: ProviderLinkPage,
  toProps(r, deps) {
    const provider = findNamedProvider(r, deps);
    const { name } = provider;
    const place = new URL(providersHref, deps.publicUrl).href;
    const isAccepted = acceptsBrowser(provider, r.req.get('user-agent'));
    return {
      provider: name,
      instead: isAccepted ? undefined : r.t('federation.buttons.embedded', { providers: name, place }),
    };
  },
  async act(r, deps) {
    const { user, session } = r;
    const provider = findNamedProvider(r, deps);
    const intent = { kind: 'link', userId: user.id, sessionIdHash: session.idHash } as const;
    // Otherwise the person of a live session at the provider would be linked without a question.
    const beginning = { intent, continuation: { search: '' }, remember: session.remember, forceFresh: true };
    try {
      const href = await deps.federation.begin(r, provider, beginning);
      r.redirectAway(href, { providerName: provider.name });
      return undefined;
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      const outcome = { provider: provider.id, outcome: error.kind, detail: error.detail };
      r.log.info({ act: 'federation-link', ...outcome }, 'account link');
      return loginPageAfter({ intent, continuation: '' }, provider, error.kind);
    }
  },
});
