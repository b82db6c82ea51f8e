import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { UserDataPage, type UserDataPageProps, type UserDataValues } from '../../views/settings/user-data-page.tsx';
import { languages, methodNotAllowed, readFormField, writeLanguageCookie } from '../http/index.ts';
import type { User } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { submitProfile } from './profile-form.ts';
import { type MemberHandler, requireUser } from './require-recent-auth.ts';

const path = '/settings/profile';

function sendPage(
  { pages }: AccountDeps,
  req: Request,
  res: Response,
  state: Pick<UserDataPageProps, 'values'> & Partial<UserDataPageProps> & { status?: number },
): void {
  const pageState = pages.shownAt(req, res, path, state);
  if (!pageState) return;
  const { status = 200, ...props } = pageState;
  pages.send(req, res, status, (ctx) => createElement(UserDataPage, { ctx, action: path, errors: {}, ...props }), {
    title: (ctx) => ctx.t('settings.userData.edit'),
    address: path,
  });
}

/** The stored data in the form of the page. */
const toFormValues = (user: User): UserDataValues => ({
  birthdate: user.birthdate ?? '',
  gender: user.gender,
  address: user.address ?? '',
  companyName: user.companyName ?? '',
  jobTitle: user.jobTitle ?? '',
  newsletter: String(user.newsletter),
  locale: user.locale ?? '',
});

/** The submitted data, under the names of the user attributes. */
const valuesSent = (req: Request): UserDataValues => ({
  birthdate: readFormField(req, 'birthdate'),
  gender: readFormField(req, 'gender'),
  address: readFormField(req, 'address'),
  companyName: readFormField(req, 'company'),
  jobTitle: readFormField(req, 'job_title'),
  // An unticked checkbox is not sent at all.
  newsletter: String(readFormField(req, 'newsletter') !== ''),
  locale: readFormField(req, 'locale'),
});

const show =
  (deps: AccountDeps): MemberHandler =>
  (req, res, { user }) =>
    sendPage(deps, req, res, { values: toFormValues(user) });

const submit =
  (deps: AccountDeps): MemberHandler =>
  (req, res, member) => {
    const values = valuesSent(req);
    return submitProfile(deps, req, res, member, {
      typed: values,
      notice: 'profile',
      refuse: (refused) => sendPage(deps, req, res, { values, ...refused }),
      // Otherwise this browser's earlier choice would have precedence.
      saved: () =>
        writeLanguageCookie(
          deps.cookies,
          res,
          languages.find((one) => one === values.locale.trim()),
        ),
    });
  };

/** The user data that users edit themselves. */
export function profileRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(path)
    .get(requireUser(deps, show(deps)))
    .post(requireUser(deps, submit(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
