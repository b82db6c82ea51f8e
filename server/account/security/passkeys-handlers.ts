import { PasskeyRemovePage, PasskeyRenamePage } from '../../../views/account/passkey-pages.tsx';
import { PasskeysPage } from '../../../views/account/passkeys-page.tsx';
import { AddressWithNotice, HttpError, type PageHandler } from '../../http/index.ts';
import {
  findPasskey,
  listPasskeys,
  maxPasskeys,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '../../passkeys/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { KeptFields } from '../form-drafts.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';
import { findNameFault } from './passkey-name.ts';
import { isLastSignInMethod, listSignInMethods, removeSignInMethod } from './sign-in-methods.ts';

const path = '/settings/passkeys';
const done = ['added', 'renamed', 'removed'] as const;

export const passkeysPageAfter = (act: (typeof done)[number]) => new AddressWithNotice(path, `passkeys:${act}`);

/** GET /settings/passkeys */
async function list(r: UserRequest, deps: AccountDeps) {
  const passkeys = await listPasskeys(deps.database.db, r.user.id);
  const act = r.takeNotice((name) => done.find((one) => name === `passkeys:${one}`));
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

type PasskeyRequest = UserRequest & { readonly passkey: Passkey };

/** For the user's own passkey in the address. @throws {HttpError} notFound */
const requirePasskey = (handler: PageHandler<AccountDeps, PasskeyRequest>, keep?: KeptFields) =>
  requireRecentAuth(async (r, deps: AccountDeps) => {
    const passkey = await findPasskey(deps.database.db, r.query('passkey') ?? '');
    if (passkey?.userId !== r.user.id) throw new HttpError('notFound', { detail: 'no such passkey' });
    await handler(Object.assign(r, { passkey }), deps);
  }, keep);

const renamePage = settingsPage({
  path: `${path}/rename`,
  withQuery: true,
  title: 'passkeys.renaming.title',
  guard: requirePasskey,
  Page: PasskeyRenamePage,
  toProps: ({ passkey }) => ({ name: passkey.name }),
  draft: { fields: { name: 60 }, toState: ({ name = '' }) => ({ name }), hasForm: () => true },
  async act(r, { database }) {
    const name = r.field('name').trim();
    const error = findNameFault(r.t, name);
    if (error !== undefined) return { status: 400, name, error };
    await renamePasskey(database.db, r.user.id, { id: r.passkey.id, name });
    return passkeysPageAfter('renamed');
  },
});

const removePage = settingsPage({
  path: `${path}/remove`,
  withQuery: true,
  title: 'passkeys.removing.title',
  guard: requirePasskey,
  Page: PasskeyRemovePage,
  async toProps({ user, passkey: { id, name } }, deps) {
    const methods = await listSignInMethods(deps, deps.database.db, user);
    return { name, isLast: isLastSignInMethod(methods, { kind: 'passkey', id }) };
  },
  async act(r, deps) {
    const { id, name } = r.passkey;
    const removed = await removeSignInMethod(r, deps, {
      method: { kind: 'passkey', id },
      change: 'passkey-removed',
      detail: name,
      remove: (trx, userId) => removePasskey(trx, userId, id),
    });
    if (removed === 'last') return { status: 409, isLast: true };
    return passkeysPageAfter('removed');
  },
});

/** Passkeys: every session of the user may see the list; changes need a recent authentication. */
export const passkeyPages: readonly PageRoute[] = [{ path, get: requireUser(list) }, renamePage, removePage];
