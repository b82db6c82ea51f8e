import { NamePage } from '../../../views/account/name-page.tsx';
import { UserDataPage } from '../../../views/account/user-data-page.tsx';
import {
  defineAction,
  type Form,
  languages,
  type RefusedForm,
  type RequestContext,
  writeLanguageCookie,
} from '../../http/index.ts';
import { requireUser } from '../../sign-in/index.ts';
import { mapUserData, nameForm, profileFieldNames, userDataForm } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { accountHomeAfter } from '../notices.ts';
import { type ActionCaller, formAct, formDraft, openForm, settingsPage } from '../settings-page.ts';
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

/** The profile is no credential, so any session suffices. */
export const namePage = settingsPage({
  path: '/settings/name',
  title: 'settings.name.title',
  guard: requireUser,
  Page: NamePage,
  toProps: ({ user }) => openForm(nameForm, { givenName: user.givenName, familyName: user.familyName }),
  draft: formDraft(nameForm),
  act: formAct({ action: changeProfile(nameForm), toProblem, after: () => accountHomeAfter('name') }),
});

export const userDataPage = settingsPage({
  path: '/settings/profile',
  title: 'settings.userData.edit',
  guard: requireUser,
  Page: UserDataPage,
  toProps: ({ user }, { withheldFields }) => ({
    ...openForm(
      userDataForm,
      mapUserData((name) => String(user[name] ?? '')),
    ),
    groups: mapUserData((name) => userDataForm[name].group),
    withheld: profileFieldNames.filter((name) => withheldFields.has(name)),
  }),
  draft: formDraft(userDataForm),
  act: formAct({
    action: changeProfile(userDataForm),
    toProblem,
    after(r, { cookies }) {
      const { locale } = r.form(userDataForm).typed;
      // Otherwise this browser's earlier choice would have precedence.
      writeLanguageCookie(
        cookies,
        r.res,
        languages.find((one) => one === locale.trim()),
      );
      return accountHomeAfter('profile');
    },
  }),
});
