import { ContactCodePage, type ContactCodePageProps } from '../../../views/account/contact-pages.tsx';
import {
  AddressWithNotice,
  codeForm,
  type PageHandler,
  type RequestContext,
  refusalView,
  submitAction,
} from '../../http/index.ts';
import { codeMinutes, formatNumber, secondsUntilResend } from '../../messages/index.ts';
import { limitRefusals } from '../../password/index.ts';
import type { FlowId } from '../../shared/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { endOthersIfTicked, endOthersTicked } from '../devices/end-others.ts';
import { accountHomeAfter } from '../notices.ts';
import { resendEmailChangeCode } from './change-email.ts';
import { resendPhoneCode } from './change-phone.ts';
import { confirmChangeAction } from './contact-actions.ts';
import type { ContactChangeKind, PendingContactChange } from './pending-contact-changes.ts';

export const formPath = (kind: ContactChangeKind) => `/settings/${kind}`;
export const codePath = (kind: ContactChangeKind) => `/settings/${kind}/code`;

/** The notice of the first page about a change whose code has become invalid. */
export const isChangeExpired = (r: RequestContext, kind: ContactChangeKind) => r.takesNotice(`${kind}:expired`);
const formAfterExpiry = (kind: ContactChangeKind) => new AddressWithNotice(formPath(kind), `${kind}:expired`);

const resendCode = { email: resendEmailChangeCode, phone: resendPhoneCode };

type CodeHandler = PageHandler<AccountDeps, UserRequest>;

type ContactCodePageState = Partial<Pick<ContactCodePageProps, 'error' | 'problem' | 'resent' | 'endOthers'>> & {
  status?: number;
};

async function renderCodePage(
  r: UserRequest,
  { now }: AccountDeps,
  { flow, ...view }: ContactCodePageState & { flow: PendingContactChange },
): Promise<void> {
  const { kind, to, sentAtMs } = flow;
  const address = codePath(kind);
  // In full, so that users see a typing error here.
  const values = { to: kind === 'email' ? to : await formatNumber(to), minutes: codeMinutes };
  r.renderForm(
    ContactCodePage,
    {
      id: `verify-${kind}`,
      action: address,
      sent: r.t(`contact.${kind}.sentTo`, values),
      other: { question: r.t(`contact.${kind}.other`), href: formPath(kind) },
      resent: false,
      waitSeconds: secondsUntilResend(sentAtMs, now()),
      newest: { by: kind === 'email' ? 'email' : 'sms', atMs: sentAtMs },
      ...(kind === 'email' && { endOthers: true }),
    },
    { title: 'contact.code.title', address, view },
  );
}

/** The page of a code, in the browser that has requested one. */
export function showCode(kind: ContactChangeKind): CodeHandler {
  return async (r, deps) => {
    const { flows } = deps.contact;
    const flow = await flows.find(kind, flows.readChangeCookie(r.req, kind), r.user);
    if (!flow) return r.redirect(formPath(kind));
    await renderCodePage(r, deps, { flow, resent: r.takesNotice(`${kind}:resent`) });
  };
}

/** The code, or a request for another one. */
export function submitCode(kind: ContactChangeKind): CodeHandler {
  const action = confirmChangeAction(kind);
  return async (r, deps) => {
    const { user } = r;
    const { contact } = deps;
    const { flows } = contact;
    // Reads all fields first, so that a malformed form is always an error.
    const [act] = [r.field('act'), r.form(codeForm)];
    const id = flows.readChangeCookie(r.req, kind);
    const flow = await flows.find(kind, id, user);
    if (!flow) return r.redirect(formAfterExpiry(kind));
    if (act === 'resend') return resend(r, deps, { id, flow });
    const confirmed = await submitAction(r, action, { deps, caller: { user, from: r.origin, id } });
    if (confirmed.kind === 'changed') {
      flows.clearChangeCookie(r.res, kind);
      if (flow.kind === 'email') await endOthersIfTicked(r, deps, { ...user, email: flow.to });
      return r.redirect(accountHomeAfter(kind));
    }
    const { refusal, status, errors, text } = confirmed;
    if (refusal === 'not-found') return r.redirect(formAfterExpiry(kind));
    const input = kind === 'email' ? { endOthers: endOthersTicked(r) } : {};
    const view = { ...input, status, ...(text === undefined ? { error: errors.code } : { problem: { text } }) };
    // The code has been used: the user starts again at the form, which shows the reason.
    if (refusal === 'already-in-use' && !r.viewAt(formPath(kind), view)) return;
    await renderCodePage(r, deps, { flow, ...view });
  };
}

async function resend(
  r: UserRequest,
  deps: AccountDeps,
  { id, flow }: { id: FlowId; flow: PendingContactChange },
): Promise<void> {
  const { kind } = flow;
  const resent = await resendCode[kind](deps.contact, r.user, { id, from: r.origin });
  if (resent.kind === 'sent') return r.redirect(new AddressWithNotice(codePath(kind), `${kind}:resent`));
  if (resent.kind === 'not-found') return r.redirect(formAfterExpiry(kind));
  const { refusal } = resent;
  // The number was checked when it was entered: only a limit can refuse.
  const wait = 'retryAfterMs' in refusal ? refusal : { kind: 'too-many' as const, retryAfterMs: 0 };
  const { status, text } = refusalView(r, limitRefusals, wait);
  await renderCodePage(r, deps, { flow, status, problem: { title: r.t('contact.code.failed'), text } });
}
