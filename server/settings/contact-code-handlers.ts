import type { Request, Response } from 'express';
import { createElement } from 'react';
import { ContactCodePage, type ContactCodePageProps } from '../../views/settings/contact-pages.tsx';
import { codeMinutes, resendWaitMs } from '../codes/index.ts';
import type { CodeRejection, CodeThrottled, ContactChangeKind, PendingContactChange } from '../contact/index.ts';
import { readFormField, readQueryParam, setRetryAfter, type T } from '../http/index.ts';
import { formatNumber } from '../messages/index.ts';
import { retryAfterText } from '../password/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { type FlowId, toPublicOutcome } from '../shared/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthersIfTicked, endOthersTicked } from './end-others.ts';
import { accountHomeUrl } from './notices.ts';
import type { MemberHandler } from './require-recent-auth.ts';

const formPath = (kind: ContactChangeKind) => `/settings/${kind}`;
export const codePath = (kind: ContactChangeKind) => `/settings/${kind}/code`;

/** The notice of the first page about a change whose code has become invalid. */
export const isChangeExpired = (req: Request) => readQueryParam(req, 'notice') === 'gone';
const expiredUrl = (kind: ContactChangeKind) => `${formPath(kind)}?notice=gone`;

type ContactCodePageState = Partial<Pick<ContactCodePageProps, 'error' | 'problem' | 'resent' | 'endOthers'>> & {
  status?: number;
};

/** The time of the next possible code, for the header and in words. */
export function retryAfterFields(
  res: Response,
  t: T,
  { kind, retryAfterMs }: CodeThrottled,
): { status: number; text: string } {
  setRetryAfter(res, retryAfterMs);
  return { status: 429, text: retryAfterText(t, kind, retryAfterMs) };
}

async function renderPage(
  { pages, now }: AccountDeps,
  req: Request,
  res: Response,
  { kind, to, sentAtMs }: PendingContactChange,
  state: ContactCodePageState = {},
): Promise<void> {
  const pageState = pages.shownAt(req, res, codePath(kind), state);
  if (!pageState) return;
  const { status = 200, resent = false, ...noticeName } = pageState;
  const waitSeconds = Math.max(0, Math.ceil((sentAtMs + resendWaitMs - now()) / 1000));
  // In full, so that users see a typing error here.
  const values = { to: kind === 'email' ? to : await formatNumber(to), minutes: codeMinutes };
  pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(ContactCodePage, {
        ctx,
        id: `verify-${kind}`,
        action: codePath(kind),
        sent: ctx.t(`contact.${kind}.sentTo`, values),
        other: { question: ctx.t(`contact.${kind}.other`), href: formPath(kind) },
        resent,
        waitSeconds,
        ...(kind === 'email' && { endOthers: true }),
        ...noticeName,
      }),
    { title: (ctx) => ctx.t('contact.code.title'), address: codePath(kind) },
  );
}

/** GET /settings/email/code and /settings/phone/code, in the browser that has requested one. */
export function showCode(deps: AccountDeps, kind: ContactChangeKind): MemberHandler {
  return async (req, res, { user }) => {
    const { flows } = deps.contact;
    const flow = await flows.find(kind, flows.readChangeCookie(req, kind), user);
    if (!flow) return res.redirect(303, formPath(kind));
    await renderPage(deps, req, res, flow, { resent: readQueryParam(req, 'notice') === 'resent' });
  };
}

/** The text for each refusal, and its place. */
function refused(
  res: Response,
  t: T,
  kind: ContactChangeKind,
  refusal: Exclude<CodeRejection, { kind: 'not-found' }>,
): ContactCodePageState {
  switch (refusal.kind) {
    case 'incomplete':
      return { error: t('password.reset.codeIncomplete') };
    case 'incorrect':
      return { error: t('password.reset.codeWrong') };
    case 'invalidated':
      return { error: t('password.reset.codeExpired') };
    case 'already-in-use':
      return { status: 409, problem: { text: t(`contact.${kind}.alreadyInUse`) } };
    case 'too-many': {
      const { status, text } = retryAfterFields(res, t, refusal);
      return { status, problem: { text } };
    }
  }
}

/** POST to the same: the code, or a request for another one. */
export function submitCode(deps: AccountDeps, kind: ContactChangeKind): MemberHandler {
  return async (req, res, { user, session }) => {
    const { contact, log, pages } = deps;
    const { flows } = contact;
    const { t } = req;
    const [act, code] = [readFormField(req, 'act'), readFormField(req, 'code')];
    const id = flows.readChangeCookie(req, kind);
    const flow = await flows.find(kind, id, user);
    if (!flow) return res.redirect(303, expiredUrl(kind));
    if (act === 'resend') return resend(deps, req, res, { user, kind, id, flow });
    const confirmed = await contact[kind].confirm(user, id, code, getRequestOrigin(req));
    log.info({ act: `change-${kind}`, outcome: toPublicOutcome(confirmed.kind) }, 'contact change code');
    if (confirmed.kind === 'changed') {
      flows.clearChangeCookie(res, kind);
      if (flow.kind === 'email') await endOthersIfTicked(deps, req, { user: { ...user, email: flow.to }, session });
      return res.redirect(303, accountHomeUrl(kind));
    }
    if (confirmed.kind === 'not-found') return res.redirect(303, expiredUrl(kind));
    const typed = kind === 'email' ? { endOthers: endOthersTicked(req) } : {};
    const view = { status: 400, ...typed, ...refused(res, t, kind, confirmed) };
    // The code has been used: the user starts again at the form, which shows the reason.
    if (confirmed.kind === 'already-in-use' && !pages.shownAt(req, res, formPath(kind), view)) return;
    await renderPage(deps, req, res, flow, view);
  };
}

async function resend(
  deps: AccountDeps,
  req: Request,
  res: Response,
  {
    user,
    kind,
    id,
    flow,
  }: { user: Parameters<MemberHandler>[2]['user']; kind: ContactChangeKind; id: FlowId; flow: PendingContactChange },
) {
  const { t } = req;
  const resent = await deps.contact[kind].resend(user, id, getRequestOrigin(req));
  if (resent.kind === 'sent') return res.redirect(303, `${codePath(kind)}?notice=resent`);
  if (resent.kind === 'not-found') return res.redirect(303, expiredUrl(kind));
  const { refusal } = resent;
  // The number was checked when it was entered: only a limit can refuse.
  const wait = 'retryAfterMs' in refusal ? refusal : { kind: 'too-many' as const, retryAfterMs: 0 };
  const { status, text } = retryAfterFields(res, t, wait);
  await renderPage(deps, req, res, flow, { status, problem: { title: t('contact.code.failed'), text } });
}
