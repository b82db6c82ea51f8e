import { PasskeyRemovePage, PasskeyRenamePage } from '../../../views/account/passkey-pages.tsx';
import { PasskeysPage } from '../../../views/account/passkeys-page.tsx';
import { type AddPage, HttpError } from '../../http/index.ts';
import { notifySecurityChange } from '../../messages/index.ts';
import {
  findPasskey,
  listPasskeys,
  maxPasskeys,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '../../passkeys/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import { lockUser } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { findNameFault } from './passkey-name.ts';
import { isLastSignInMethod, listSignInMethods } from './sign-in-methods.ts';

const path = '/settings/passkeys';
const done = ['added', 'renamed', 'removed'] as const;

export const passkeysPageUrl = (act: (typeof done)[number]) => `${path}?${new URLSearchParams({ notice: act })}`;

/** GET /settings/passkeys */
async function list(r: UserRequest, deps: AccountDeps) {
  const passkeys = await listPasskeys(deps.database.db, r.user.id);
  const noticeName = r.query('notice');
  const act = done.find((one) => one === noticeName);
  r.render(
    PasskeysPage,
    {
      passkeys,
      max: maxPasskeys,
      available: deps.passkeys !== undefined,
      ...(act && { notice: r.t(`passkeys.notices.${act}`) }),
    },
    { title: 'passkeys.title', address: path },
  );
}

/** The user's own passkey in the address. @throws {HttpError} notFound */
async function findNamedPasskey(r: UserRequest, { database }: AccountDeps): Promise<Passkey> {
  const passkey = await findPasskey(database.db, r.query('passkey') ?? '');
  if (passkey?.userId !== r.user.id) throw new HttpError('notFound', { detail: 'no such passkey' });
  return passkey;
}

function renderRenamePage(r: UserRequest, view: { name: string; error?: string }): void {
  const action = r.req.originalUrl;
  const state = r.viewAt(action, view);
  if (!state) return;
  const status = state.error === undefined ? 200 : 400;
  r.render(PasskeyRenamePage, { action, ...state }, { title: 'passkeys.renaming.title', address: action, status });
}

async function showRename(r: UserRequest, deps: AccountDeps) {
  const { name } = await findNamedPasskey(r, deps);
  const draft = await deps.formDrafts.takeDraft(r);
  renderRenamePage(r, { name: draft?.name ?? name });
}

async function rename(r: UserRequest, deps: AccountDeps) {
  const { id } = await findNamedPasskey(r, deps);
  const name = r.field('name').trim();
  const fault = findNameFault(r.t, name);
  if (fault !== undefined) return renderRenamePage(r, { name, error: fault });
  await renamePasskey(deps.database.db, r.user.id, { id, name });
  r.redirect(passkeysPageUrl('renamed'));
}

function renderRemovePage(r: UserRequest, { name }: Passkey, view: { isLast: boolean; status?: number }): void {
  const action = r.req.originalUrl;
  const props = { action, name, isLast: view.isLast };
  r.renderForm(PasskeyRemovePage, props, { title: 'passkeys.removing.title', address: action, view });
}

async function showRemove(r: UserRequest, deps: AccountDeps) {
  const passkey = await findNamedPasskey(r, deps);
  const methods = await listSignInMethods(deps, deps.database.db, r.user);
  renderRemovePage(r, passkey, { isLast: isLastSignInMethod(methods, { kind: 'passkey', id: passkey.id }) });
}

async function remove(r: UserRequest, deps: AccountDeps) {
  const passkey = await findNamedPasskey(r, deps);
  const { id, name } = passkey;
  const isLast = await deps.database.transaction(async (trx) => {
    // Under the lock, so that two parallel removals leave one sign-in method.
    const user = await lockUser(trx, r.user);
    if (!user) throw new HttpError('unauthorized', { detail: 'user or password has changed' });
    if (isLastSignInMethod(await listSignInMethods(deps, trx, user), { kind: 'passkey', id })) return true;
    // Two clicks are one change, and one mail.
    if (!(await removePasskey(trx, user.id, id))) return false;
    await notifySecurityChange(trx, deps, { user, change: 'passkey-removed', from: r.origin, detail: name });
    return false;
  });
  if (isLast) return renderRemovePage(r, passkey, { isLast: true, status: 409 });
  deps.outbox.wake();
  r.redirect(passkeysPageUrl('removed'));
}

/** Passkeys: every session of the user may see the list; changes need a recent authentication. */
export function passkeyRoutes(add: AddPage<AccountDeps>): void {
  add(path, { get: requireUser(list) });
  add(`${path}/rename`, { get: requireRecentAuth(showRename), post: requireRecentAuth(rename, { name: 60 }) });
  add(`${path}/remove`, { get: requireRecentAuth(showRemove), post: requireRecentAuth(remove) });
}
