import { EmailPage, PhonePage } from '../../../views/account/contact-pages.tsx';
import type { AddPage, Form, RefusedForm } from '../../http/index.ts';
import { type FlowId, toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { formPage } from '../form-page.ts';
import { accountHomeUrl } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { removeUserPhone } from './change-phone.ts';
import { changeEmailAction, changePhoneAction } from './contact-actions.ts';
import { codePath, formPath, isChangeExpired, showCode, submitCode } from './contact-code-handlers.ts';
import type { ContactChangeKind } from './pending-contact-changes.ts';

const toNotice = (r: UserRequest) => (isChangeExpired(r) ? { text: r.t('contact.code.expired') } : undefined);

/** The specification's error bar disappears by itself, the text at the field stays; other reasons stay. */
const toProblem = ({ t }: UserRequest, { text }: RefusedForm<Form>) =>
  text === undefined
    ? { text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true }
    : { title: t('contact.code.failed'), text };

/** The code was sent: its page follows, in this browser alone. */
const continueWithCode =
  (kind: ContactChangeKind) =>
  (r: UserRequest, { contact }: AccountDeps, { flow }: { flow: FlowId }) => {
    contact.flows.setChangeCookie(r.res, kind, flow);
    r.redirect(codePath(kind));
  };

const emailPage = formPage({
  path: formPath('email'),
  title: 'contact.email.title',
  Page: EmailPage,
  action: changeEmailAction,
  toValues: async (r, { formDrafts }) => ({ email: (await formDrafts.takeDraft(r))?.email ?? '' }),
  toNotice,
  toProblem,
  onDone: continueWithCode('email'),
});

function phoneRemovable({ phone, mfaPreference }: User): 'yes' | 'no' | 'in-use' {
  if (phone === null) return 'no';
  return mfaPreference === 'sms' ? 'in-use' : 'yes';
}

const phonePage = formPage({
  path: formPath('phone'),
  title: 'contact.phone.title',
  Page: PhonePage,
  action: changePhoneAction,
  // The field starts with the present number, so an empty one means its removal.
  toValues: async (r, { formDrafts }) => ({
    phone: (await formDrafts.takeDraft(r))?.phone_number ?? r.user.phone ?? '',
  }),
  toProps: (r, { smsOffered: offered }) => ({ offered, removable: phoneRemovable(r.user) }),
  toNotice,
  toProblem,
  onDone: continueWithCode('phone'),
});

async function removePhone(r: UserRequest, deps: AccountDeps) {
  const removed = await removeUserPhone(deps.contact, r.user, r.origin);
  r.log.info({ act: 'remove-phone', outcome: toPublicOutcome(removed) }, 'form');
  if (removed !== 'in-use') return r.redirect(accountHomeUrl('phone-removed'));
  phonePage.refuse(r, deps, { status: 409, problem: { text: r.t('contact.phone.inUse') } });
}

/** Sends a code to the new number; an empty field, or the button beside it, removes the present one. */
function submitPhone(r: UserRequest, deps: AccountDeps) {
  const isEmpty = r.field('phone_number').trim() === '';
  if (isEmpty && r.user.phone === null) {
    return phonePage.refuse(r, deps, { status: 400, errors: { phone: r.t('settings.errors.empty') } });
  }
  return isEmpty || r.field('act') === 'remove' ? removePhone(r, deps) : phonePage.submit(r, deps);
}

/** Edit Email and Edit Phone, and the codes that prove the new address or number. */
export function contactRoutes(add: AddPage<AccountDeps>): void {
  add(formPath('email'), {
    get: requireRecentAuth(emailPage.show),
    post: requireRecentAuth(emailPage.submit, { email: 254 }),
  });
  add(formPath('phone'), {
    get: requireRecentAuth(phonePage.show),
    post: requireRecentAuth(submitPhone, { phone_number: 40 }),
  });
  for (const kind of ['email', 'phone'] as const) {
    add(codePath(kind), { get: requireRecentAuth(showCode(kind)), post: requireRecentAuth(submitCode(kind)) });
  }
}
