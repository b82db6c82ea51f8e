import { PasskeyAddPage } from '../../../views/account/passkey-pages.tsx';
import type { AddPage } from '../../http/index.ts';
import { deviceName } from '../../messages/index.ts';
import {
  countPasskeys,
  creationOptions,
  maxPasskeys,
  type PasskeyDeps,
  registerPasskey,
} from '../../passkeys/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from '../devices/end-others.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { findNameFault, initialPasskeyName } from './passkey-name.ts';

const path = '/settings/passkeys/add';

interface AddPasskeyPageState {
  name: string;
  endOthers?: boolean;
  error?: string;
  problem?: string;
  status?: number;
}

/** The page needs new options each time: a challenge is answered once. */
async function renderAddPage(r: UserRequest, passkeys: PasskeyDeps, view: AddPasskeyPageState): Promise<void> {
  const state = r.viewAt(path, view);
  if (!state) return;
  const { status, ...props } = state;
  const options = await creationOptions(passkeys, r);
  r.render(PasskeyAddPage, { action: path, options, ...props }, { title: 'passkeys.add.title', address: path, status });
}

const show = (passkeys: PasskeyDeps) => async (r: UserRequest, deps: AccountDeps) => {
  // The list explains the limit.
  if ((await countPasskeys(deps.database.db, r.user.id)) >= maxPasskeys) return r.redirect('/settings/passkeys');
  const draft = await deps.formDrafts.takeDraft(r);
  const device = deviceName(r.t, r.req.get('user-agent'));
  await renderAddPage(r, passkeys, {
    name: draft?.name ?? initialPasskeyName(device),
    ...(draft && { endOthers: draft[endOthersField] === '1' }),
  });
};

const add = (passkeys: PasskeyDeps) => async (r: UserRequest, deps: AccountDeps) => {
  const { t } = r;
  const name = r.field('name').trim();
  const credential = r.field('credential');
  const endOthers = endOthersTicked(r);
  const error = findNameFault(t, name);
  if (error !== undefined) return renderAddPage(r, passkeys, { name, endOthers, error, status: 400 });
  const registration = await registerPasskey(passkeys, r, { credential, name, from: r.origin });
  if (registration.kind === 'added') {
    await endOthersIfTicked(r, deps);
    return r.redirect('/settings/passkeys?notice=added');
  }
  const { why } = registration;
  const problem =
    why === 'too-many'
      ? t('passkeys.full', { most: maxPasskeys })
      : t(`passkeys.errors.${why === 'already-in-use' ? 'alreadyInUse' : why}`);
  const status = why === 'already-in-use' || why === 'too-many' ? 409 : 400;
  await renderAddPage(r, passkeys, { name, endOthers, problem, status });
};

/** None if passkeys are unsupported. */
export function addPasskeyRoutes(addPage: AddPage<AccountDeps>, { passkeys }: Pick<AccountDeps, 'passkeys'>): void {
  if (!passkeys) return;
  addPage(path, {
    get: requireRecentAuth(show(passkeys)),
    post: requireRecentAuth(add(passkeys), { name: 60, [endOthersField]: 1 }),
  });
}
