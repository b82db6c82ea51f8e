import { NamePage, type NamePageProps } from '../../../views/account/name-page.tsx';
import type { AddPage, RequestContext } from '../../http/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { submitProfile } from './profile-form.ts';

const path = '/settings/name';

function renderNamePage(
  r: RequestContext,
  view: Pick<NamePageProps, 'values'> & Partial<NamePageProps> & { status?: number },
): void {
  const state = r.viewAt(path, view);
  if (!state) return;
  const { status, ...props } = state;
  r.render(NamePage, { action: path, errors: {}, ...props }, { title: 'settings.name.title', address: path, status });
}

const show = (r: UserRequest) => {
  const { givenName, familyName } = r.user;
  renderNamePage(r, { values: { givenName, familyName } });
};

const submit = (r: UserRequest, deps: AccountDeps) => {
  const values = { givenName: r.field('given_name'), familyName: r.field('family_name') };
  return submitProfile(r, deps, {
    typed: values,
    notice: 'name',
    refuse: (refused) => renderNamePage(r, { values, ...refused }),
  });
};

/** Edit Name: the public name of the user. It is no credential, so any session suffices. */
export function nameRoutes(add: AddPage<AccountDeps>): void {
  add(path, { get: requireUser(show), post: requireUser(submit) });
}
