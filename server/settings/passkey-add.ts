import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { PasskeyAddPage } from '../../views/settings/passkey-act-pages.tsx';
import { field, methodNotAllowed } from '../http/index.ts';
import { deviceName } from '../messages/index.ts';
import { countPasskeys, mostPasskeys, type Passkeys } from '../passkeys/index.ts';
import { originOf } from '../session/index.ts';
import type { SettingsDeps } from './deps.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { type MemberHandler, recently, type SignedIn } from './guard.ts';
import { faultOfName, nameToBeginWith } from './passkey-name.ts';

const path = '/settings/passkeys/add';

interface Shown {
  name: string;
  endOthers?: boolean;
  error?: string;
  problem?: string;
  status?: number;
}

/** The page asks the browser anew each time: a question is answered once. */
async function sendAddPage(
  { pages }: SettingsDeps,
  passkeys: Passkeys,
  [req, res, member]: [Request, Response, SignedIn],
  given: Shown,
): Promise<void> {
  const said = pages.shownAt(req, res, path, given);
  if (!said) return;
  const { status = 200, ...shown } = said;
  const options = await passkeys.creationOptions(member);
  pages.send(req, res, status, (ctx) => createElement(PasskeyAddPage, { ctx, action: path, options, ...shown }), {
    title: (ctx) => ctx.t('passkeys.add.title'),
    address: path,
  });
}

const show =
  (deps: SettingsDeps, passkeys: Passkeys): MemberHandler =>
  async (...visit) => {
    const [req, res, { user }] = visit;
    // The list says why there is no more to add.
    if ((await countPasskeys(deps.database.db, user.id)) >= mostPasskeys)
      return res.redirect(303, '/settings/passkeys');
    const typed = await deps.stash.take(req, res, user.id);
    const device = deviceName(req.t, req.get('user-agent'));
    await sendAddPage(deps, passkeys, visit, {
      name: typed?.name ?? nameToBeginWith(device),
      ...(typed && { endOthers: typed[endOthersField] === '1' }),
    });
  };

const add =
  (deps: SettingsDeps, passkeys: Passkeys): MemberHandler =>
  async (...visit) => {
    const [req, res, member] = visit;
    const { t } = req;
    const name = field(req, 'name').trim();
    const credential = field(req, 'credential');
    const endOthers = endOthersTicked(req);
    const error = faultOfName(t, name);
    if (error !== undefined) return sendAddPage(deps, passkeys, visit, { name, endOthers, error, status: 400 });
    const registration = await passkeys.register(member, { credential, name }, originOf(req));
    if (registration.kind === 'added') {
      await endOthersIfTicked(deps, req, member);
      return res.redirect(303, '/settings/passkeys?notice=added');
    }
    const { why } = registration;
    const problem = why === 'too-many' ? t('passkeys.full', { most: mostPasskeys }) : t(`passkeys.errors.${why}`);
    await sendAddPage(deps, passkeys, visit, {
      name,
      endOthers,
      problem,
      status: why === 'taken' || why === 'too-many' ? 409 : 400,
    });
  };

/** None where browsers have no passkeys. */
export function addPasskeyRoutes(router: Router, deps: SettingsDeps): void {
  const { passkeys } = deps;
  if (!passkeys) return;
  router
    .route(path)
    .get(recently(deps, show(deps, passkeys)))
    .post(recently(deps, add(deps, passkeys), { name: 60, [endOthersField]: 1 }))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
