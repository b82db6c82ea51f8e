import { ProviderRemovePage } from '../../../views/account/provider-pages.tsx';
import { type LinkedProviderView, ProvidersPage, providersHref } from '../../../views/account/providers-page.tsx';
import {
  type FederatedIdentity,
  findLinkProvider,
  listIdentities,
  noticeText,
  providerName,
  takeSignInNotice,
  toAccountLabel,
  toKindMark,
  toProviderMark,
  unlink,
} from '../../federation/index.ts';
import { AddressWithNotice, HttpError, type PageHandler } from '../../http/index.ts';
import { type ProviderId, toPublicOutcome } from '../../shared/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { isLastSignInMethod, listSignInMethods, removeSignInMethod } from '../security/sign-in-methods.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';

const done = ['linked', 'removed'] as const;

/** The notice of the page: the last action, or the result at a provider. */
function noticeFor(r: UserRequest, { federation }: AccountDeps) {
  const act = r.takeNotice((name) => done.find((one) => name === `providers:${one}`));
  if (act) return { kind: 'success' as const, text: r.t(`federation.linked.done.${act}`) };
  const ended = takeSignInNotice(r, federation.providers);
  return ended && noticeText(r.t, ended);
}

/** GET /settings/providers */
async function list(r: UserRequest, deps: AccountDeps) {
  const { providers } = deps.federation;
  const links = await listIdentities(deps.database.db, r.user.id);
  const rows = links.map((link): LinkedProviderView => {
    const provider = findLinkProvider(providers, link);
    const mark = provider ? toProviderMark(provider) : toKindMark(link.kind);
    const { id, email, linkedAt, lastUsedAt } = link;
    return {
      ...mark,
      id,
      email,
      linkedAt,
      lastUsedAt,
      offered: provider !== undefined,
      name: providerName(providers, link),
    };
  });
  const others = providers.all
    .filter(({ id, kind }) => !links.some((link) => link.provider === id && link.kind === kind))
    .map((provider) => ({ id: provider.id, name: provider.name, ...toProviderMark(provider) }));
  const linked = new Set(links.map((link) => findLinkProvider(providers, link)));
  const endsAt = providers.all.filter((one) => linked.has(one) && one.saml?.logout).map(({ name }) => name);
  const notice = noticeFor(r, deps);
  const title = 'federation.linked.title';
  r.render(ProvidersPage, { links: rows, others, endsAt, notice }, { title, address: providersHref });
}

/** For the user's own link in the address. @throws {HttpError} notFound */
const requireLink = (handler: PageHandler<AccountDeps, LinkRequest>) =>
  requireRecentAuth(async (r, deps: AccountDeps) => {
    const id = r.query('link');
    const link = (await listIdentities(deps.database.db, r.user.id)).find((one) => one.id === id);
    if (!link) throw new HttpError('notFound', { detail: 'no such account link' });
    await handler(Object.assign(r, { link }), deps);
  });

type LinkRequest = UserRequest & { readonly link: FederatedIdentity };

/** The provider's name, and that with the account there. */
function toLinkNames({ federation }: AccountDeps, link: FederatedIdentity) {
  const provider = providerName(federation.providers, link);
  return { provider, account: toAccountLabel(provider, link.email) };
}

/** Ends sessions by the removed link: they may have been another person's. */
async function endSessionsBy({ user, session }: UserRequest, { sessions }: AccountDeps, provider: ProviderId) {
  const others = (await sessions.list(user.id)).filter(({ idHash }) => idHash !== session.idHash);
  for (const other of others) if (other.provider === provider) await sessions.endSession(user.id, other.idHash);
}

async function remove(r: LinkRequest, deps: AccountDeps) {
  const { link } = r;
  const { federation, now } = deps;
  const outcome = await removeSignInMethod(r, deps, {
    method: { kind: 'link', id: link.id },
    change: 'provider-removed',
    detail: toLinkNames(deps, link).account,
    remove: (trx, userId) => unlink(trx, federation.providers, { userId, id: link.id, nowMs: now() }),
  });
  if (outcome !== 'last') await endSessionsBy(r, deps, link.provider);
  r.log.info(
    { act: 'federation-unlink', provider: link.provider, outcome: toPublicOutcome(outcome) },
    'account link removal',
  );
  if (outcome === 'last') return { status: 409, isLast: true };
  return new AddressWithNotice(providersHref, 'providers:removed');
}

const removePage = settingsPage({
  path: `${providersHref}/remove`,
  withQuery: true,
  title: (t, { provider }) => t('federation.linked.removing.title', { provider }),
  guard: requireLink,
  Page: ProviderRemovePage,
  async toProps({ user, link }, deps) {
    const methods = await listSignInMethods(deps, deps.database.db, user);
    return { ...toLinkNames(deps, link), isLast: isLastSignInMethod(methods, { kind: 'link', id: link.id }) };
  },
  act: remove,
});

/** Linked accounts: every session of the user may see the list; changes need a recent authentication. */
export const providerPages: readonly PageRoute[] = [{ path: providersHref, get: requireUser(list) }, removePage];
