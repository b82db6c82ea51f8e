import { EmailPage, PhonePage } from '../../../views/account/contact-pages.tsx';
import type { Form, RefusedForm } from '../../http/index.ts';
import { secondsUntilResend } from '../../messages/index.ts';
import { type FlowId, toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { normalisePhone, type User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { accountHomeAfter } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { formAct, formDraft, openForm, type PageRoute, settingsPage } from '../settings-page.ts';
import { removeUserPhone } from './change-phone.ts';
import { changeEmailAction, changePhoneAction } from './contact-actions.ts';
import { codePath, formPath, isChangeExpired, showCode, submitCode } from './contact-code-handlers.ts';
import type { ContactChangeKind } from './pending-contact-changes.ts';

const openAfter = (kind: ContactChangeKind) => (r: UserRequest) =>
  isChangeExpired(r, kind) ? { problem: { text: r.t('contact.code.expired') } } : undefined;

/** The specification's error bar disappears by itself, the text at the field stays; other reasons stay. */
const toProblem = ({ t }: UserRequest, { text }: RefusedForm<Form>) =>
  text === undefined
    ? { text: `${t('settings.TAB_USER_DATA_MESSAGE_EROR')} ${t('contact.code.failedHint')}`, passing: true }
    : { title: t('contact.code.failed'), text };

/** The code was sent: its page follows, in this browser alone. */
const continueWithCode =
  (kind: ContactChangeKind) =>
  (r: UserRequest, { contact }: AccountDeps, { flow }: { flow: FlowId }) => {
    contact.flows.setChangeCookie(r.res, kind, flow);
    return codePath(kind);
  };

const emailPage = settingsPage({
  path: formPath('email'),
  title: 'contact.email.title',
  guard: requireRecentAuth,
  Page: EmailPage,
  open: openAfter('email'),
  toProps: () => openForm(changeEmailAction.form, { email: '' }),
  draft: formDraft(changeEmailAction.form, { email: 254 }),
  act: formAct({ action: changeEmailAction, toProblem, after: continueWithCode('email') }),
});

function phoneRemovable({ phone, mfaPreference }: User): 'yes' | 'no' | 'in-use' {
  if (phone === null) return 'no';
  return mfaPreference === 'sms' ? 'in-use' : 'yes';
}

const changePhone = formAct({ action: changePhoneAction, toProblem, after: continueWithCode('phone') });

async function removePhone(r: UserRequest, { contact }: AccountDeps) {
  const removed = await removeUserPhone(contact, r.user, r.origin);
  r.log.info({ act: 'remove-phone', outcome: toPublicOutcome(removed) }, 'form');
  if (removed !== 'in-use') return accountHomeAfter('phone-removed');
  const { typed: values } = r.form(changePhoneAction.form);
  return { status: 409, values, problem: { text: r.t('contact.phone.inUse') } };
}

/** A form that is sent twice sends one text message: the page of the code counts down to the next one. */
async function hasJustSent(r: UserRequest, { contact: { flows }, now }: AccountDeps, typed: string): Promise<boolean> {
  const flow = await flows.find('phone', flows.readChangeCookie(r.req, 'phone'), r.user);
  return flow !== undefined && flow.to === normalisePhone(typed) && secondsUntilResend(flow.sentAtMs, now()) > 0;
}

const phonePage = settingsPage({
  path: formPath('phone'),
  title: 'contact.phone.title',
  guard: requireRecentAuth,
  Page: PhonePage,
  open: openAfter('phone'),
  toProps: ({ user }, { smsOffered: offered }) => ({
    // The field starts with the present number, so an empty one means its removal.
    ...openForm(changePhoneAction.form, { phone: user.phone ?? '' }),
    offered,
    removable: phoneRemovable(user),
  }),
  draft: { ...formDraft(changePhoneAction.form, { phone_number: 40 }), hasForm: ({ smsOffered }) => smsOffered },
  /** Sends a code to the new number; an empty field, or the button beside it, removes the present one. */
  async act(r, deps) {
    const { typed: values } = r.form(changePhoneAction.form);
    const isEmpty = values.phone.trim() === '';
    if (isEmpty && r.user.phone === null) {
      return { status: 400, values, errors: { phone: r.t('settings.errors.empty') } };
    }
    if (isEmpty || r.field('act') === 'remove') return removePhone(r, deps);
    return (await hasJustSent(r, deps, values.phone)) ? codePath('phone') : changePhone(r, deps);
  },
});

const codePages = (['email', 'phone'] as const).map((kind) => ({
  path: codePath(kind),
  get: requireRecentAuth(showCode(kind)),
  post: requireRecentAuth(submitCode(kind)),
}));

/** Edit Email and Edit Phone, and the codes that prove the new address or number. */
export const contactPages: readonly PageRoute[] = [emailPage, phonePage, ...codePages];
