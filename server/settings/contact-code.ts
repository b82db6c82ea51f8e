import type { Request, Response } from 'express';
import { createElement } from 'react';
import { ContactCodePage, type ContactCodePageProps } from '../../views/settings/contact-pages.tsx';
import { codeMinutes, resendWaitMs } from '../codes/index.ts';
import type { CodeRefusal, CodeRefused, ContactFlow, FlowKind } from '../contact/index.ts';
import { field, query, setRetryAfter, type T } from '../http/index.ts';
import { readableNumber } from '../messages/index.ts';
import { waitText } from '../password/index.ts';
import { originOf } from '../session/index.ts';
import type { SettingsDeps } from './deps.ts';
import { endOthersIfTicked, endOthersTicked } from './end-others.ts';
import type { MemberHandler } from './guard.ts';
import { homeAfter } from './notices.ts';

const formPath = (kind: FlowKind) => `/settings/${kind}`;
export const codePath = (kind: FlowKind) => `/settings/${kind}/code`;

/** What the first page says of a change whose code can be shown no longer. */
export const isGone = (req: Request) => query(req, 'notice') === 'gone';
const goneAddress = (kind: FlowKind) => `${formPath(kind)}?notice=gone`;

type Shown = Partial<Pick<ContactCodePageProps, 'error' | 'problem' | 'resent' | 'endOthers'>> & { status?: number };

/** When another code may be asked for, for the header and in words. */
export function waitShown(res: Response, t: T, { kind, retryAfterMs }: CodeRefusal): { status: number; text: string } {
  setRetryAfter(res, retryAfterMs);
  return { status: 429, text: waitText(t, kind, retryAfterMs) };
}

async function sendPage(
  { pages, now }: SettingsDeps,
  req: Request,
  res: Response,
  { kind, to, sentAtMs }: ContactFlow,
  given: Shown = {},
): Promise<void> {
  const shown = pages.shownAt(req, res, codePath(kind), given);
  if (!shown) return;
  const { status = 200, resent = false, ...said } = shown;
  const waitSeconds = Math.max(0, Math.ceil((sentAtMs + resendWaitMs - now()) / 1000));
  // In full: who has mistyped it sees that here.
  const values = { to: kind === 'email' ? to : await readableNumber(to), minutes: codeMinutes };
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
        ...said,
      }),
    { title: (ctx) => ctx.t('contact.code.title'), address: codePath(kind) },
  );
}

/** GET /settings/email/code and /settings/phone/code, in the browser that has asked for one. */
export function showCode(deps: SettingsDeps, kind: FlowKind): MemberHandler {
  return async (req, res, { user }) => {
    const { flows } = deps.contact;
    const flow = await flows.find(kind, flows.idOf(req, kind), user);
    if (!flow) return res.redirect(303, formPath(kind));
    await sendPage(deps, req, res, flow, { resent: query(req, 'notice') === 'resent' });
  };
}

/** Which text stands where for each refusal. */
function refused(res: Response, t: T, kind: FlowKind, refusal: Exclude<CodeRefused, { kind: 'gone' }>): Shown {
  switch (refusal.kind) {
    case 'incomplete':
      return { error: t('password.reset.codeIncomplete') };
    case 'wrong':
      return { error: t('password.reset.codeWrong') };
    case 'void':
      return { error: t('password.reset.codeGone') };
    case 'taken':
      return { status: 409, problem: { text: t(`contact.${kind}.taken`) } };
    case 'too-many': {
      const { status, text } = waitShown(res, t, refusal);
      return { status, problem: { text } };
    }
  }
}

/** POST to the same: the code, or asking for another one. */
export function submitCode(deps: SettingsDeps, kind: FlowKind): MemberHandler {
  return async (req, res, { user, session }) => {
    const { contact, log, pages } = deps;
    const { flows } = contact;
    const { t } = req;
    const [act, code] = [field(req, 'act'), field(req, 'code')];
    const id = flows.idOf(req, kind);
    const flow = await flows.find(kind, id, user);
    if (!flow) return res.redirect(303, goneAddress(kind));
    if (act === 'resend') return resend(deps, req, res, { user, kind, id, flow });
    const confirmed = await contact[kind].confirm(user, id, code, originOf(req));
    log.info({ act: `change-${kind}`, outcome: confirmed.kind }, 'code of a change');
    if (confirmed.kind === 'changed') {
      flows.takeFrom(res, kind);
      if (kind === 'email') await endOthersIfTicked(deps, req, { user: { ...user, email: flow.to }, session });
      return res.redirect(303, homeAfter(kind));
    }
    if (confirmed.kind === 'gone') return res.redirect(303, goneAddress(kind));
    const typed = kind === 'email' ? { endOthers: endOthersTicked(req) } : {};
    const shown = { status: 400, ...typed, ...refused(res, t, kind, confirmed) };
    // The code has been used: the way begins again at the form, which says so.
    if (confirmed.kind === 'taken' && !pages.shownAt(req, res, formPath(kind), shown)) return;
    await sendPage(deps, req, res, flow, shown);
  };
}

async function resend(
  deps: SettingsDeps,
  req: Request,
  res: Response,
  {
    user,
    kind,
    id,
    flow,
  }: { user: Parameters<MemberHandler>[2]['user']; kind: FlowKind; id: string; flow: ContactFlow },
) {
  const { t } = req;
  const resent = await deps.contact[kind].resend(user, id, originOf(req));
  if (resent.kind === 'sent') return res.redirect(303, `${codePath(kind)}?notice=resent`);
  if (resent.kind === 'gone') return res.redirect(303, goneAddress(kind));
  const { refusal } = resent;
  // A number that was fit for a text message when it was given: only a limit is left.
  const wait = 'retryAfterMs' in refusal ? refusal : { kind: 'too-many' as const, retryAfterMs: 0 };
  const { status, text } = waitShown(res, t, wait);
  await sendPage(deps, req, res, flow, { status, problem: { title: t('contact.code.failed'), text } });
}
