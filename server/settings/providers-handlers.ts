import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { ProviderRemovePage } from '../../views/settings/provider-pages.tsx';
import { type LinkedProviderView, ProvidersPage, providersHref } from '../../views/settings/providers-page.tsx';
import {
  type FederatedIdentity,
  findLinkProvider,
  listIdentities,
  logoUrl,
  noticeText,
  type Provider,
  providerName,
  readNotice,
  toAccountLabel,
  unlink,
} from '../federation/index.ts';
import { HttpError, methodNotAllowed, readQueryParam, type T } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { lockUser } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { linkProviderRoutes } from './link-provider-handlers.ts';
import { type MemberHandler, requireRecentAuth, requireUser, type SignedInUser } from './require-recent-auth.ts';
import { isLastSignInMethod, listSignInMethods } from './sign-in-methods.ts';

const done = ['linked', 'removed'] as const;

/** The notice of the page: the last action, or the result at a provider. */
function noticeFor({ federation }: AccountDeps, req: Request, t: T) {
  const noticeName = readQueryParam(req, 'notice');
  const act = done.find((one) => one === noticeName);
  if (act) return { kind: 'success' as const, text: t(`federation.linked.done.${act}`) };
  const ended = readNotice(req, federation.providers);
  return ended && noticeText(t, ended);
}

const providerMark = (provider: Provider) => ({ kind: provider.kind, logo: logoUrl(provider) });

/** GET /settings/providers */
const list =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, { user }) => {
    const { pages, database, federation } = deps;
    const { providers } = federation;
    const links = await listIdentities(database.db, user.id);
    const rows = links.map((link): LinkedProviderView => {
      const provider = findLinkProvider(providers, link);
      const mark = provider ? providerMark(provider) : { kind: link.kind, logo: undefined };
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
      .map((provider) => ({ id: provider.id, name: provider.name, ...providerMark(provider) }));
    const linked = new Set(links.map((link) => findLinkProvider(providers, link)));
    const endsAt = providers.all.filter((one) => linked.has(one) && one.saml?.logout).map(({ name }) => name);
    const notice = noticeFor(deps, req, req.t);
    pages.send(req, res, 200, (ctx) => createElement(ProvidersPage, { ctx, links: rows, others, endsAt, notice }), {
      title: (ctx) => ctx.t('federation.linked.title'),
      address: providersHref,
    });
  };

/** The user's own link in the address. @throws {HttpError} notFound */
async function named({ database }: AccountDeps, req: Request, { user }: SignedInUser): Promise<FederatedIdentity> {
  const id = readQueryParam(req, 'link');
  const link = (await listIdentities(database.db, user.id)).find((one) => one.id === id);
  if (!link) throw new HttpError('notFound', { detail: 'no such account link' });
  return link;
}

function sendRemovePage(
  { pages, federation }: AccountDeps,
  [req, res]: [Request, Response],
  link: FederatedIdentity,
  state: { isLast: boolean; status?: number },
): void {
  const action = req.originalUrl;
  const pageState = pages.shownAt(req, res, action, state);
  if (!pageState) return;
  const { isLast, status = 200 } = pageState;
  const provider = providerName(federation.providers, link);
  const props = { provider, account: toAccountLabel(provider, link.email), action, isLast };
  pages.send(req, res, status, (ctx) => createElement(ProviderRemovePage, { ctx, ...props }), {
    title: (ctx) => ctx.t('federation.linked.removing.title', { provider }),
    address: action,
  });
}

const showRemove =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const link = await named(deps, req, member);
    const ways = await listSignInMethods(deps, deps.database.db, member.user);
    sendRemovePage(deps, [req, res], link, { isLast: isLastSignInMethod(ways, { kind: 'link', id: link.id }) });
  };

/** Ends sessions by the removed link: they may have been another person's. */
async function endSessionsBy(
  { sessions }: AccountDeps,
  { provider }: FederatedIdentity,
  { user, session }: SignedInUser,
) {
  const others = (await sessions.list(user.id)).filter(({ idHash }) => idHash !== session.idHash);
  for (const other of others) if (other.provider === provider) await sessions.endSession(user.id, other.idHash);
}

const remove =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const { database, federation, outbox, log, now } = deps;
    const link = await named(deps, req, member);
    const outcome = await database.transaction(async (trx) => {
      // Under the lock, so that two parallel removals leave one sign-in method.
      const user = await lockUser(trx, member.user);
      if (!user) throw new HttpError('unauthorized', { detail: 'user or password has changed' });
      if (isLastSignInMethod(await listSignInMethods(deps, trx, user), { kind: 'link', id: link.id })) return 'last';
      // Two clicks are one change, and one mail.
      if (!(await unlink(trx, federation.providers, user.id, link.id, now()))) return 'not-found';
      const account = toAccountLabel(providerName(federation.providers, link), link.email);
      await notifySecurityChange(trx, deps, {
        user,
        change: 'provider-removed',
        from: getRequestOrigin(req),
        detail: account,
      });
      return 'removed';
    });
    outbox.wake();
    if (outcome !== 'last') await endSessionsBy(deps, link, member);
    log.info(
      { act: 'federation-unlink', provider: link.provider, outcome: toPublicOutcome(outcome) },
      'account link removal',
    );
    if (outcome === 'last') return sendRemovePage(deps, [req, res], link, { isLast: true, status: 409 });
    res.redirect(303, `${providersHref}?${new URLSearchParams({ notice: 'removed' })}`);
  };

/** Linked accounts: every session of the user may see the list; changes need a recent authentication. */
export function providerRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(providersHref)
    .get(requireUser(deps, list(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  linkProviderRoutes(router, deps);
  router
    .route(`${providersHref}/remove`)
    .get(requireRecentAuth(deps, showRemove(deps)))
    .post(requireRecentAuth(deps, remove(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
