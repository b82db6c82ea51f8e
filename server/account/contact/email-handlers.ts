import type { ActionProblem } from '../../../views/account/account-action.tsx';
import { EmailPage } from '../../../views/account/contact-pages.tsx';
import type { AddPage } from '../../http/index.ts';
import { toPublicOutcome } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { requestEmailChange } from './change-email.ts';
import { codePath, isChangeExpired, retryAfterFields, showCode, submitCode } from './contact-code-handlers.ts';

const path = '/settings/email';

interface EmailPageState {
  status?: number;
  value?: string | undefined;
  error?: string;
  problem?: ActionProblem;
}

function renderEmailPage(r: UserRequest, view: EmailPageState): void {
  const state = r.viewAt(path, view);
  if (!state) return;
  const { status, value = '', ...props } = state;
  r.render(EmailPage, { action: path, value, ...props }, { title: 'contact.email.title', address: path, status });
}

async function show(r: UserRequest, { formDrafts }: AccountDeps) {
  const draft = await formDrafts.takeDraft(r);
  const problem = { text: r.t('contact.code.expired') };
  renderEmailPage(r, { value: draft?.email, ...(isChangeExpired(r) && { problem }) });
}

/** Sends a code to the new address. */
async function submit(r: UserRequest, { contact }: AccountDeps) {
  const { t } = r;
  const value = r.field('email');
  const requested = await requestEmailChange(contact, r.user, { typed: value, from: r.origin });
  const outcome = toPublicOutcome(requested.kind === 'asked' ? requested.kind : requested.refusal.kind);
  r.log.info({ act: 'change-email', outcome }, 'email address change');
  if (requested.kind === 'asked') {
    contact.flows.setChangeCookie(r.res, 'email', requested.flow);
    return r.redirect(codePath('email'));
  }
  const { refusal } = requested;
  // The specification's error bar disappears by itself; the text at the field stays.
  const bar = { text: t('settings.TAB_USER_DATA_MESSAGE_EROR'), passing: true };
  switch (refusal.kind) {
    case 'malformed':
      return renderEmailPage(r, { status: 400, value, error: t('signUp.errors.email'), problem: bar });
    case 'same':
      return renderEmailPage(r, { status: 400, value, error: t('contact.email.same'), problem: bar });
    default: {
      const { status, text } = retryAfterFields(r, refusal);
      return renderEmailPage(r, { status, value, problem: { title: t('contact.code.failed'), text } });
    }
  }
}

/** Edit Email, and the code that proves the new address. */
export function emailRoutes(add: AddPage<AccountDeps>): void {
  add(path, { get: requireRecentAuth(show), post: requireRecentAuth(submit, { email: 254 }) });
  add(codePath('email'), {
    get: requireRecentAuth(showCode('email')),
    post: requireRecentAuth(submitCode('email')),
  });
}
