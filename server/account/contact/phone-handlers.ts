import type { ActionProblem } from '../../../views/account/account-action.tsx';
import { PhonePage } from '../../../views/account/contact-pages.tsx';
import type { AddPage } from '../../http/index.ts';
import { toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { accountHomeUrl } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { type PhoneRefusal, removeUserPhone, requestPhoneChange } from './change-phone.ts';
import { codePath, isChangeExpired, retryAfterFields, showCode, submitCode } from './contact-code-handlers.ts';

const path = '/settings/phone';

interface PhonePageState {
  status?: number;
  value?: string | undefined;
  error?: string;
  problem?: ActionProblem;
}

function phoneRemovable({ phone, mfaPreference }: User): 'yes' | 'no' | 'in-use' {
  if (phone === null) return 'no';
  return mfaPreference === 'sms' ? 'in-use' : 'yes';
}

function renderPhonePage(r: UserRequest, { smsOffered: offered }: AccountDeps, view: PhonePageState): void {
  const state = r.viewAt(path, view);
  if (!state) return;
  // The field starts with the present number, so an empty one means its removal.
  const { status, value = r.user.phone ?? '', ...props } = state;
  r.render(
    PhonePage,
    { action: path, value, offered, removable: phoneRemovable(r.user), ...props },
    { title: 'contact.phone.title', address: path, status },
  );
}

async function show(r: UserRequest, deps: AccountDeps) {
  const draft = await deps.formDrafts.takeDraft(r);
  const problem = { text: r.t('contact.code.expired') };
  renderPhonePage(r, deps, { value: draft?.phone_number, ...(isChangeExpired(r) && { problem }) });
}

/** The text for each refusal, and its place. */
function refusalView(r: UserRequest, refusal: PhoneRefusal): PhonePageState {
  const { t } = r;
  // The specification's error bar disappears by itself; the text at the field stays.
  const problem = { text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true };
  switch (refusal.kind) {
    case 'malformed':
      return { error: t('contact.phone.invalid'), problem };
    case 'impossible':
      return { error: t('contact.phone.impossible'), problem };
    case 'unreachable':
      return { error: t('contact.phone.unreachable'), problem };
    case 'same':
      return { error: t('contact.phone.same'), problem };
    case 'not-offered':
      return {};
    default: {
      const { status, text } = retryAfterFields(r, refusal);
      return { status, problem: { title: t('contact.code.failed'), text } };
    }
  }
}

async function remove(r: UserRequest, deps: AccountDeps) {
  const removed = await removeUserPhone(deps.contact, r.user, r.origin);
  r.log.info({ act: 'remove-phone', outcome: removed }, 'phone number removal');
  if (removed !== 'in-use') return r.redirect(accountHomeUrl('phone-removed'));
  renderPhonePage(r, deps, { status: 409, problem: { text: r.t('contact.phone.inUse') } });
}

/** Sends a code to the new number; an empty field, or the button beside it, removes the present one. */
async function submit(r: UserRequest, deps: AccountDeps) {
  const { contact } = deps;
  const value = r.field('phone_number');
  const isEmpty = value.trim() === '';
  if (isEmpty && r.user.phone === null) {
    return renderPhonePage(r, deps, { status: 400, error: r.t('settings.errors.empty') });
  }
  if (isEmpty || r.field('act') === 'remove') return remove(r, deps);
  const requested = await requestPhoneChange(contact, r.user, { typed: value, from: r.origin });
  const outcome = toPublicOutcome(requested.kind === 'asked' ? requested.kind : requested.refusal.kind);
  r.log.info({ act: 'change-phone', outcome }, 'phone number change');
  if (requested.kind === 'asked') {
    contact.flows.setChangeCookie(r.res, 'phone', requested.flow);
    return r.redirect(codePath('phone'));
  }
  renderPhonePage(r, deps, { status: 400, value, ...refusalView(r, requested.refusal) });
}

/** Edit Phone, and the code that proves the new number. */
export function phoneRoutes(add: AddPage<AccountDeps>): void {
  add(path, { get: requireRecentAuth(show), post: requireRecentAuth(submit, { phone_number: 40 }) });
  add(codePath('phone'), {
    get: requireRecentAuth(showCode('phone')),
    post: requireRecentAuth(submitCode('phone')),
  });
}
