import { UserDataPage, type UserDataPageProps, type UserDataValues } from '../../../views/account/user-data-page.tsx';
import { type AddPage, languages, type RequestContext, writeLanguageCookie } from '../../http/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { submitProfile } from './profile-form.ts';

const path = '/settings/profile';

function renderProfilePage(
  r: RequestContext,
  view: Pick<UserDataPageProps, 'values'> & Partial<UserDataPageProps> & { status?: number },
): void {
  const state = r.viewAt(path, view);
  if (!state) return;
  const { status, ...props } = state;
  const answer = { title: 'settings.userData.edit', address: path, status } as const;
  r.render(UserDataPage, { action: path, errors: {}, ...props }, answer);
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
const readValues = (r: RequestContext): UserDataValues => ({
  birthdate: r.field('birthdate'),
  gender: r.field('gender'),
  address: r.field('address'),
  companyName: r.field('company'),
  jobTitle: r.field('job_title'),
  // An unticked checkbox is not sent at all.
  newsletter: String(r.field('newsletter') !== ''),
  locale: r.field('locale'),
});

const show = (r: UserRequest) => renderProfilePage(r, { values: toFormValues(r.user) });

const submit = (r: UserRequest, deps: AccountDeps) => {
  const values = readValues(r);
  return submitProfile(r, deps, {
    typed: values,
    notice: 'profile',
    refuse: (refused) => renderProfilePage(r, { values, ...refused }),
    // Otherwise this browser's earlier choice would have precedence.
    saved: () =>
      writeLanguageCookie(
        deps.cookies,
        r.res,
        languages.find((one) => one === values.locale.trim()),
      ),
  });
};

/** The user data that users edit themselves. */
export function profileRoutes(add: AddPage<AccountDeps>): void {
  add(path, { get: requireUser(show), post: requireUser(submit) });
}
