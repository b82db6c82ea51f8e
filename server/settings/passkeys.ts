import type { Request, Response, Router } from 'express';
import { createElement, type ReactElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import { PasskeyRemovePage, PasskeyRenamePage } from '../../views/settings/passkey-act-pages.tsx';
import { PasskeysPage } from '../../views/settings/passkeys-page.tsx';
import { holdMember } from '../account/index.ts';
import { field, HttpError, methodNotAllowed, query } from '../http/index.ts';
import { tellOfChange } from '../messages/index.ts';
import {
  findPasskey,
  listPasskeys,
  mostPasskeys,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '../passkeys/index.ts';
import { originOf } from '../session/index.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, type MemberHandler, recently, type SignedIn } from './guard.ts';
import { addPasskeyRoutes } from './passkey-add.ts';
import { faultOfName } from './passkey-name.ts';
import { isLastWayIn, waysIn } from './ways-in.ts';

const path = '/settings/passkeys';
const done = ['added', 'renamed', 'removed'] as const;

export const passkeysAfter = (act: (typeof done)[number]) => `${path}?${new URLSearchParams({ notice: act })}`;

/** GET /settings/passkeys */
const list =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, { user }) => {
    const passkeys = await listPasskeys(deps.database.db, user.id);
    const said = query(req, 'notice');
    const act = done.find((one) => one === said);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(PasskeysPage, {
          ctx,
          passkeys,
          most: mostPasskeys,
          available: deps.passkeys !== undefined,
          ...(act && { notice: ctx.t(`passkeys.notices.${act}`) }),
        }),
      { title: (ctx) => ctx.t('passkeys.title'), address: path },
    );
  };

/** The passkey that the address names, which is the member's own. @throws {HttpError} notFound */
async function named({ database }: SettingsDeps, req: Request, { user }: SignedIn): Promise<Passkey> {
  const passkey = await findPasskey(database.db, query(req, 'passkey') ?? '');
  if (passkey?.userId !== user.id) throw new HttpError('notFound', { detail: 'no such passkey of the member' });
  return passkey;
}

function send(
  { pages }: SettingsDeps,
  req: Request,
  res: Response,
  title: 'renaming' | 'removing',
  page: (ctx: PageContext) => ReactElement,
  status = 200,
): void {
  const address = req.originalUrl;
  pages.send(req, res, status, page, { title: (ctx) => ctx.t(`passkeys.${title}.title`), address });
}

function sendRenamePage(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  given: { name: string; error?: string },
): void {
  const action = req.originalUrl;
  const shown = deps.pages.shownAt(req, res, action, given);
  if (!shown) return;
  const page = (ctx: PageContext) => createElement(PasskeyRenamePage, { ctx, action, ...shown });
  send(deps, req, res, 'renaming', page, shown.error === undefined ? 200 : 400);
}

const showRename =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    const { name } = await named(deps, req, member);
    const typed = (await deps.stash.take(req, res, member.user.id))?.name ?? name;
    sendRenamePage(deps, req, res, { name: typed });
  };

const rename =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    const { id } = await named(deps, req, member);
    const name = field(req, 'name').trim();
    const fault = faultOfName(req.t, name);
    if (fault !== undefined) return sendRenamePage(deps, req, res, { name, error: fault });
    await renamePasskey(deps.database.db, member.user.id, id, name);
    res.redirect(303, passkeysAfter('renamed'));
  };

function sendRemovePage(
  deps: SettingsDeps,
  [req, res]: [Request, Response],
  { name }: Passkey,
  given: { isLast: boolean; status?: number },
): void {
  const action = req.originalUrl;
  const shown = deps.pages.shownAt(req, res, action, given);
  if (!shown) return;
  const { isLast, status } = shown;
  send(deps, req, res, 'removing', (ctx) => createElement(PasskeyRemovePage, { ctx, action, name, isLast }), status);
}

const showRemove =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    const passkey = await named(deps, req, member);
    const ways = await waysIn(deps, deps.database.db, member.user);
    sendRemovePage(deps, [req, res], passkey, { isLast: isLastWayIn(ways, { kind: 'passkey', id: passkey.id }) });
  };

const remove =
  (deps: SettingsDeps): MemberHandler =>
  async (req, res, member) => {
    const passkey = await named(deps, req, member);
    const { id, name } = passkey;
    const isLast = await deps.database.transaction(async (trx) => {
      // One after the other: of two ways in that are removed at once, one stays.
      const user = await holdMember(trx, member.user);
      if (!user)
        throw new HttpError('unauthorized', { detail: 'the member, or their password, has changed meanwhile' });
      if (isLastWayIn(await waysIn(deps, trx, user), { kind: 'passkey', id })) return true;
      // Pressed twice it is one change, and one mail.
      if (!(await removePasskey(trx, user.id, id))) return false;
      await tellOfChange(trx, deps, { user, change: 'passkey-removed', from: originOf(req), detail: name });
      return false;
    });
    if (isLast) return sendRemovePage(deps, [req, res], passkey, { isLast: true, status: 409 });
    deps.outbox.wake();
    res.redirect(303, passkeysAfter('removed'));
  };

/** Passkeys: the list is for every session of the member, what changes it for those who have shown lately who they are. */
export function passkeyRoutes(router: Router, deps: SettingsDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(path)
    .get(forMember(deps, list(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  addPasskeyRoutes(router, deps);
  router
    .route(`${path}/rename`)
    .get(recently(deps, showRename(deps)))
    .post(recently(deps, rename(deps), { name: 60 }))
    .all(only);
  router
    .route(`${path}/remove`)
    .get(recently(deps, showRemove(deps)))
    .post(recently(deps, remove(deps)))
    .all(only);
}
