import { NamePage } from '../../../views/account/name-page.tsx';
import { UserDataPage } from '../../../views/account/user-data-page.tsx';
import {
  type AddPage,
  defineAction,
  type Form,
  languages,
  type RefusedForm,
  type RequestContext,
  writeLanguageCookie,
} from '../../http/index.ts';
import { requireUser } from '../../sign-in/index.ts';
import { mapUserData, nameForm, userDataForm } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { type ActionCaller, formPage } from '../form-page.ts';
import { accountHomeUrl } from '../notices.ts';
import { saveProfile, saveProfileRefusals } from './save-profile.ts';

const changeProfile = <Fields extends Form>(form: Fields) =>
  defineAction({
    id: 'change-profile',
    form,
    run: (deps: AccountDeps, { user, from }: ActionCaller, change) => saveProfile(deps, user, { change, from }),
    refusals: saveProfileRefusals,
  });

/** The specification's TAB_USER_DATA_MESSAGE_EROR, and the reason if no field shows it. */
function toProblem({ t }: RequestContext, { text }: RefusedForm<Form>) {
  const failed = t('settings.TAB_USER_DATA_MESSAGE_EROR');
  return text === undefined ? { text: failed } : { title: failed, text };
}

const namePage = formPage({
  path: '/settings/name',
  title: 'settings.name.title',
  Page: NamePage,
  action: changeProfile(nameForm),
  toValues: ({ user }) => ({ givenName: user.givenName, familyName: user.familyName }),
  toProblem,
  onDone: (r) => r.redirect(accountHomeUrl('name')),
});

const userDataPage = formPage({
  path: '/settings/profile',
  title: 'settings.userData.edit',
  Page: UserDataPage,
  action: changeProfile(userDataForm),
  toValues: ({ user }) => mapUserData((name) => String(user[name] ?? '')),
  toProblem,
  onDone(r, deps) {
    const { locale } = r.form(userDataForm).typed;
    // Otherwise this browser's earlier choice would have precedence.
    writeLanguageCookie(
      deps.cookies,
      r.res,
      languages.find((one) => one === locale.trim()),
    );
    r.redirect(accountHomeUrl('profile'));
  },
});

/** Edit Name and Edit User Data: what users tell of themselves. It is no credential, so any session suffices. */
export function profileRoutes(add: AddPage<AccountDeps>): void {
  for (const { path, show, submit } of [namePage, userDataPage]) {
    add(path, { get: requireUser(show), post: requireUser(submit) });
  }
}
