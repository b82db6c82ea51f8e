import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { UserDataPage, type UserDataPageProps, type UserDataValues } from '../../views/settings/user-data-page.tsx';
import type { User } from '../account/index.ts';
import { field, languages, methodNotAllowed, rememberLanguage } from '../http/index.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, type MemberHandler } from './guard.ts';
import { submitProfile } from './profile-form.ts';

const path = '/settings/profile';

function sendPage(
  { pages }: SettingsDeps,
  req: Request,
  res: Response,
  given: Pick<UserDataPageProps, 'values'> & Partial<UserDataPageProps> & { status?: number },
): void {
  const shown = pages.shownAt(req, res, path, given);
  if (!shown) return;
  const { status = 200, ...props } = shown;
  pages.send(req, res, status, (ctx) => createElement(UserDataPage, { ctx, action: path, errors: {}, ...props }), {
    title: (ctx) => ctx.t('settings.userData.edit'),
    address: path,
  });
}

/** What is stored, as the form has it. */
const valuesOf = (user: User): UserDataValues => ({
  birthdate: user.birthdate ?? '',
  gender: user.gender,
  address: user.address ?? '',
  companyName: user.companyName ?? '',
  jobTitle: user.jobTitle ?? '',
  newsletter: String(user.newsletter),
  locale: user.locale ?? '',
});

/** What was sent, under the names of the user attributes. */
const valuesSent = (req: Request): UserDataValues => ({
  birthdate: field(req, 'birthdate'),
  gender: field(req, 'gender'),
  address: field(req, 'address'),
  companyName: field(req, 'company'),
  jobTitle: field(req, 'job_title'),
  // A box without its tick is not sent at all.
  newsletter: String(field(req, 'newsletter') !== ''),
  locale: field(req, 'locale'),
});

const show =
  (deps: SettingsDeps): MemberHandler =>
  (req, res, { user }) =>
    sendPage(deps, req, res, { values: valuesOf(user) });

const submit =
  (deps: SettingsDeps): MemberHandler =>
  (req, res, member) => {
    const values = valuesSent(req);
    return submitProfile(deps, req, res, member, {
      typed: values,
      notice: 'profile',
      refuse: (refused) => sendPage(deps, req, res, { values, ...refused }),
      // What this browser chose before would else go before it.
      saved: () =>
        rememberLanguage(
          deps.cookies,
          res,
          languages.find((one) => one === values.locale.trim()),
        ),
    });
  };

/** The user data: what members say of themselves. */
export function profileRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(path)
    .get(forMember(deps, show(deps)))
    .post(forMember(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
