import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { PasskeyAddPage } from '../../views/settings/passkey-pages.tsx';
import { methodNotAllowed, readFormField } from '../http/index.ts';
import { deviceName } from '../messages/index.ts';
import { countPasskeys, maxPasskeys, type Passkeys } from '../passkeys/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { findNameFault, initialPasskeyName } from './passkey-name.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

const path = '/settings/passkeys/add';

interface AddPasskeyPageState {
  name: string;
  endOthers?: boolean;
  error?: string;
  problem?: string;
  status?: number;
}

/** The page needs new options each time: a challenge is answered once. */
async function sendAddPage(
  { pages }: AccountDeps,
  passkeys: Passkeys,
  [req, res, member]: [Request, Response, SignedInUser],
  state: AddPasskeyPageState,
): Promise<void> {
  const submitted = pages.shownAt(req, res, path, state);
  if (!submitted) return;
  const { status = 200, ...view } = submitted;
  const options = await passkeys.creationOptions(member);
  pages.send(req, res, status, (ctx) => createElement(PasskeyAddPage, { ctx, action: path, options, ...view }), {
    title: (ctx) => ctx.t('passkeys.add.title'),
    address: path,
  });
}

const show =
  (deps: AccountDeps, passkeys: Passkeys): MemberHandler =>
  async (...visit) => {
    const [req, res, { user }] = visit;
    // The list explains the limit.
    if ((await countPasskeys(deps.database.db, user.id)) >= maxPasskeys) return res.redirect(303, '/settings/passkeys');
    const typed = await deps.formDrafts.takeDraft(req, res, user.id);
    const device = deviceName(req.t, req.get('user-agent'));
    await sendAddPage(deps, passkeys, visit, {
      name: typed?.name ?? initialPasskeyName(device),
      ...(typed && { endOthers: typed[endOthersField] === '1' }),
    });
  };

const add =
  (deps: AccountDeps, passkeys: Passkeys): MemberHandler =>
  async (...visit) => {
    const [req, res, member] = visit;
    const { t } = req;
    const name = readFormField(req, 'name').trim();
    const credential = readFormField(req, 'credential');
    const endOthers = endOthersTicked(req);
    const error = findNameFault(t, name);
    if (error !== undefined) return sendAddPage(deps, passkeys, visit, { name, endOthers, error, status: 400 });
    const registration = await passkeys.register(member, { credential, name }, getRequestOrigin(req));
    if (registration.kind === 'added') {
      await endOthersIfTicked(deps, req, member);
      return res.redirect(303, '/settings/passkeys?notice=added');
    }
    const { why } = registration;
    const problem =
      why === 'too-many'
        ? t('passkeys.full', { most: maxPasskeys })
        : t(`passkeys.errors.${why === 'already-in-use' ? 'alreadyInUse' : why}`);
    await sendAddPage(deps, passkeys, visit, {
      name,
      endOthers,
      problem,
      status: why === 'already-in-use' || why === 'too-many' ? 409 : 400,
    });
  };

/** None if passkeys are unsupported. */
export function addPasskeyRoutes(router: Router, deps: AccountDeps): void {
  const { passkeys } = deps;
  if (!passkeys) return;
  router
    .route(path)
    .get(requireRecentAuth(deps, show(deps, passkeys)))
    .post(requireRecentAuth(deps, add(deps, passkeys), { name: 60, [endOthersField]: 1 }))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
