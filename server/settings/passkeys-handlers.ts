import type { Request, Response, Router } from 'express';
import { createElement, type ReactElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import { PasskeyRemovePage, PasskeyRenamePage } from '../../views/settings/passkey-pages.tsx';
import { PasskeysPage } from '../../views/settings/passkeys-page.tsx';
import { HttpError, methodNotAllowed, readFormField, readQueryParam } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import {
  findPasskey,
  listPasskeys,
  maxPasskeys,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '../passkeys/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { lockUser } from '../users/index.ts';
import { addPasskeyRoutes } from './add-passkey-handlers.ts';
import type { AccountDeps } from './deps.ts';
import { findNameFault } from './passkey-name.ts';
import { type MemberHandler, requireRecentAuth, requireUser, type SignedInUser } from './require-recent-auth.ts';
import { isLastSignInMethod, listSignInMethods } from './sign-in-methods.ts';

const path = '/settings/passkeys';
const done = ['added', 'renamed', 'removed'] as const;

export const passkeysPageUrl = (act: (typeof done)[number]) => `${path}?${new URLSearchParams({ notice: act })}`;

/** GET /settings/passkeys */
const list =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, { user }) => {
    const passkeys = await listPasskeys(deps.database.db, user.id);
    const noticeName = readQueryParam(req, 'notice');
    const act = done.find((one) => one === noticeName);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(PasskeysPage, {
          ctx,
          passkeys,
          max: maxPasskeys,
          available: deps.passkeys !== undefined,
          ...(act && { notice: ctx.t(`passkeys.notices.${act}`) }),
        }),
      { title: (ctx) => ctx.t('passkeys.title'), address: path },
    );
  };

/** The user's own passkey in the address. @throws {HttpError} notFound */
async function named({ database }: AccountDeps, req: Request, { user }: SignedInUser): Promise<Passkey> {
  const passkey = await findPasskey(database.db, readQueryParam(req, 'passkey') ?? '');
  if (passkey?.userId !== user.id) throw new HttpError('notFound', { detail: 'no such passkey' });
  return passkey;
}

function send(
  { pages }: AccountDeps,
  req: Request,
  res: Response,
  title: 'renaming' | 'removing',
  page: (ctx: PageContext) => ReactElement,
  status = 200,
): void {
  const address = req.originalUrl;
  pages.send(req, res, status, page, { title: (ctx) => ctx.t(`passkeys.${title}.title`), address });
}

function sendRenamePage(deps: AccountDeps, req: Request, res: Response, input: { name: string; error?: string }): void {
  const action = req.originalUrl;
  const view = deps.pages.shownAt(req, res, action, input);
  if (!view) return;
  const page = (ctx: PageContext) => createElement(PasskeyRenamePage, { ctx, action, ...view });
  send(deps, req, res, 'renaming', page, view.error === undefined ? 200 : 400);
}

const showRename =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const { name } = await named(deps, req, member);
    const typed = (await deps.formDrafts.takeDraft(req, res, member.user.id))?.name ?? name;
    sendRenamePage(deps, req, res, { name: typed });
  };

const rename =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const { id } = await named(deps, req, member);
    const name = readFormField(req, 'name').trim();
    const fault = findNameFault(req.t, name);
    if (fault !== undefined) return sendRenamePage(deps, req, res, { name, error: fault });
    await renamePasskey(deps.database.db, member.user.id, id, name);
    res.redirect(303, passkeysPageUrl('renamed'));
  };

function sendRemovePage(
  deps: AccountDeps,
  [req, res]: [Request, Response],
  { name }: Passkey,
  state: { isLast: boolean; status?: number },
): void {
  const action = req.originalUrl;
  const pageState = deps.pages.shownAt(req, res, action, state);
  if (!pageState) return;
  const { isLast, status } = pageState;
  send(deps, req, res, 'removing', (ctx) => createElement(PasskeyRemovePage, { ctx, action, name, isLast }), status);
}

const showRemove =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const passkey = await named(deps, req, member);
    const ways = await listSignInMethods(deps, deps.database.db, member.user);
    sendRemovePage(deps, [req, res], passkey, {
      isLast: isLastSignInMethod(ways, { kind: 'passkey', id: passkey.id }),
    });
  };

const remove =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const passkey = await named(deps, req, member);
    const { id, name } = passkey;
    const isLast = await deps.database.transaction(async (trx) => {
      // Under the lock, so that two parallel removals leave one sign-in method.
      const user = await lockUser(trx, member.user);
      if (!user) throw new HttpError('unauthorized', { detail: 'user or password has changed' });
      if (isLastSignInMethod(await listSignInMethods(deps, trx, user), { kind: 'passkey', id })) return true;
      // Two clicks are one change, and one mail.
      if (!(await removePasskey(trx, user.id, id))) return false;
      await notifySecurityChange(trx, deps, {
        user,
        change: 'passkey-removed',
        from: getRequestOrigin(req),
        detail: name,
      });
      return false;
    });
    if (isLast) return sendRemovePage(deps, [req, res], passkey, { isLast: true, status: 409 });
    deps.outbox.wake();
    res.redirect(303, passkeysPageUrl('removed'));
  };

/** Passkeys: every session of the user may see the list; changes need a recent authentication. */
export function passkeyRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(path)
    .get(requireUser(deps, list(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  addPasskeyRoutes(router, deps);
  router
    .route(`${path}/rename`)
    .get(requireRecentAuth(deps, showRename(deps)))
    .post(requireRecentAuth(deps, rename(deps), { name: 60 }))
    .all(only);
  router
    .route(`${path}/remove`)
    .get(requireRecentAuth(deps, showRemove(deps)))
    .post(requireRecentAuth(deps, remove(deps)))
    .all(only);
}
