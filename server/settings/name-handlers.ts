import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { NamePage, type NamePageProps } from '../../views/settings/name-page.tsx';
import { methodNotAllowed, readFormField } from '../http/index.ts';
import type { AccountDeps } from './deps.ts';
import { submitProfile } from './profile-form.ts';
import { type MemberHandler, requireUser } from './require-recent-auth.ts';

const path = '/settings/name';

function sendNamePage(
  { pages }: AccountDeps,
  req: Request,
  res: Response,
  state: Pick<NamePageProps, 'values'> & Partial<NamePageProps> & { status?: number },
): void {
  const pageState = pages.shownAt(req, res, path, state);
  if (!pageState) return;
  const { status = 200, ...props } = pageState;
  pages.send(req, res, status, (ctx) => createElement(NamePage, { ctx, action: path, errors: {}, ...props }), {
    title: (ctx) => ctx.t('settings.name.title'),
    address: path,
  });
}

const show =
  (deps: AccountDeps): MemberHandler =>
  (req, res, { user: { givenName, familyName } }) =>
    sendNamePage(deps, req, res, { values: { givenName, familyName } });

const submit =
  (deps: AccountDeps): MemberHandler =>
  (req, res, member) => {
    const values = { givenName: readFormField(req, 'given_name'), familyName: readFormField(req, 'family_name') };
    return submitProfile(deps, req, res, member, {
      typed: values,
      notice: 'name',
      refuse: (refused) => sendNamePage(deps, req, res, { values, ...refused }),
    });
  };

/** Edit Name: the public name of the user. It is no credential, so any session suffices. */
export function nameRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(path)
    .get(requireUser(deps, show(deps)))
    .post(requireUser(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
