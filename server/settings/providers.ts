import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { ProviderRemovePage } from '../../views/settings/providers-act-pages.tsx';
import { type LinkShown, ProvidersPage, providersHref } from '../../views/settings/providers-page.tsx';
import { holdMember } from '../account/index.ts';
import {
  accountThere,
  type FederatedIdentity,
  listIdentities,
  logoAddress,
  noticeOf,
  noticeText,
  type Provider,
  providerName,
  providerOfLink,
  unlink,
} from '../federation/index.ts';
import { HttpError, methodNotAllowed, query, type T } from '../http/index.ts';
import { tellOfChange } from '../messages/index.ts';
import { originOf } from '../session/index.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, type MemberHandler, recently, type SignedIn } from './guard.ts';
import { linkProviderRoutes } from './providers-link.ts';
import { isLastWayIn, waysIn } from './ways-in.ts';

const done = ['linked', 'removed'] as const;

/** What the page says first: what has just been done, or how a way to a provider ended. */
function noticeFor({ federation }: SettingsDeps, req: Request, t: T) {
  const said = query(req, 'notice');
  const act = done.find((one) => one === said);
  if (act) return { kind: 'success' as const, text: t(`federation.linked.done.${act}`) };
  const ended = noticeOf(req, federation.providers);
  return ended && noticeText(t, ended);
}

const markOf = (provider: Provider) => ({ kind: provider.kind, logo: logoAddress(provider) });

/** GET /settings/providers */
const list =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, { user }) => {
    const { pages, database, federation } = deps;
    const { providers } = federation;
    const links = await listIdentities(database.db, user.id);
    const shown = links.map((link): LinkShown => {
      const provider = providerOfLink(providers, link);
      const mark = provider ? markOf(provider) : { kind: link.kind, logo: undefined };
      const { id, email, linkedAt, lastUsedAt } = link;
      return {
        ...mark,
        ...{ id, email, linkedAt, lastUsedAt, offered: provider !== undefined },
        name: providerName(providers, link),
      };
    });
    const others = providers.all
      .filter(({ id, kind }) => !links.some((link) => link.provider === id && link.kind === kind))
      .map((provider) => ({ id: provider.id, name: provider.name, ...markOf(provider) }));
    const linked = new Set(links.map((link) => providerOfLink(providers, link)));
    const endsAt = providers.all.filter((one) => linked.has(one) && one.saml?.logout).map(({ name }) => name);
    const notice = noticeFor(deps, req, req.t);
    pages.send(req, res, 200, (ctx) => createElement(ProvidersPage, { ctx, links: shown, others, endsAt, notice }), {
      title: (ctx) => ctx.t('federation.linked.title'),
      address: providersHref,
    });
  };

/** The link that the address names, which is the member's own. @throws {HttpError} notFound */
async function named({ database }: SettingsDeps, req: Request, { user }: SignedIn): Promise<FederatedIdentity> {
  const id = query(req, 'link');
  const link = (await listIdentities(database.db, user.id)).find((one) => one.id === id);
  if (!link) throw new HttpError('notFound', { detail: 'no such link of the member' });
  return link;
}

function sendRemovePage(
  { pages, federation }: SettingsDeps,
  [req, res]: [Request, Response],
  link: FederatedIdentity,
  given: { isLast: boolean; status?: number },
): void {
  const action = req.originalUrl;
  const shown = pages.shownAt(req, res, action, given);
  if (!shown) return;
  const { isLast, status = 200 } = shown;
  const provider = providerName(federation.providers, link);
  const props = { provider, account: accountThere(provider, link.email), action, isLast };
  pages.send(req, res, status, (ctx) => createElement(ProviderRemovePage, { ctx, ...props }), {
    title: (ctx) => ctx.t('federation.linked.removing.title', { provider }),
    address: action,
  });
}

const showRemove =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    const link = await named(deps, req, member);
    const ways = await waysIn(deps, deps.database.db, member.user);
    sendRemovePage(deps, [req, res], link, { isLast: isLastWayIn(ways, { kind: 'link', id: link.id }) });
  };

/** Whoever came by what is gone now is not to stay in by it: it may have been somebody else's. */
async function endSessionsBy({ sessions }: SettingsDeps, { provider }: FederatedIdentity, { user, session }: SignedIn) {
  const others = (await sessions.list(user.id)).filter(({ idHash }) => idHash !== session.idHash);
  for (const other of others) if (other.provider === provider) await sessions.endOne(user.id, other.idHash);
}

const remove =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    const { database, federation, outbox, log, now } = deps;
    const link = await named(deps, req, member);
    const outcome = await database.transaction(async (trx) => {
      // One after the other: of two ways in that are removed at once, one stays.
      const user = await holdMember(trx, member.user);
      if (!user)
        throw new HttpError('unauthorized', { detail: 'the member, or their password, has changed meanwhile' });
      if (isLastWayIn(await waysIn(deps, trx, user), { kind: 'link', id: link.id })) return 'last';
      // Pressed twice it is one change, and one mail.
      if (!(await unlink(trx, federation.providers, user.id, link.id, now()))) return 'gone';
      const account = accountThere(providerName(federation.providers, link), link.email);
      await tellOfChange(trx, deps, { user, change: 'provider-removed', from: originOf(req), detail: account });
      return 'removed';
    });
    outbox.wake();
    if (outcome !== 'last') await endSessionsBy(deps, link, member);
    log.info({ act: 'federation-unlink', provider: link.provider, outcome }, 'a link was to be removed');
    if (outcome === 'last') return sendRemovePage(deps, [req, res], link, { isLast: true, status: 409 });
    res.redirect(303, `${providersHref}?${new URLSearchParams({ notice: 'removed' })}`);
  };

/** Accounts elsewhere: the list is for every session of the member, what changes it for those who have shown lately who they are. */
export function providerRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(providersHref)
    .get(forMember(deps, list(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  linkProviderRoutes(router, deps);
  router
    .route(`${providersHref}/remove`)
    .get(recently(deps, showRemove(deps)))
    .post(recently(deps, remove(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
