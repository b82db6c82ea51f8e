import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { NamePage, type NamePageProps } from '../../views/settings/name-page.tsx';
import { field, methodNotAllowed } from '../http/index.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, type MemberHandler } from './guard.ts';
import { submitProfile } from './profile-form.ts';

const path = '/settings/name';

function sendNamePage(
  { pages }: SettingsDeps,
  req: Request,
  res: Response,
  given: Pick<NamePageProps, 'values'> & Partial<NamePageProps> & { status?: number },
): void {
  const shown = pages.shownAt(req, res, path, given);
  if (!shown) return;
  const { status = 200, ...props } = shown;
  pages.send(req, res, status, (ctx) => createElement(NamePage, { ctx, action: path, errors: {}, ...props }), {
    title: (ctx) => ctx.t('settings.name.title'),
    address: path,
  });
}

const show =
  (deps: SettingsDeps): MemberHandler =>
  (req, res, { user: { givenName, familyName } }) =>
    sendNamePage(deps, req, res, { values: { givenName, familyName } });

const submit =
  (deps: SettingsDeps): MemberHandler =>
  (req, res, member) => {
    const values = { givenName: field(req, 'given_name'), familyName: field(req, 'family_name') };
    return submitProfile(deps, req, res, member, {
      typed: values,
      notice: 'name',
      refuse: (refused) => sendNamePage(deps, req, res, { values, ...refused }),
    });
  };

/** Edit Name: what others call the member. It signs nobody in, so a session is enough. */
export function nameRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(path)
    .get(forMember(deps, show(deps)))
    .post(forMember(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
