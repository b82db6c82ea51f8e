import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import type { ActionProblem } from '../../views/settings/account-action.tsx';
import { PhonePage } from '../../views/settings/contact-pages.tsx';
import type { PhoneRefusal } from '../contact/index.ts';
import { methodNotAllowed, readFormField, type T } from '../http/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import { codePath, isChangeExpired, retryAfterFields, showCode, submitCode } from './contact-code-handlers.ts';
import type { AccountDeps } from './deps.ts';
import { accountHomeUrl } from './notices.ts';
import { type MemberHandler, requireRecentAuth, type SignedInUser } from './require-recent-auth.ts';

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

function sendPage(
  deps: AccountDeps,
  req: Request,
  res: Response,
  { user }: SignedInUser,
  state: PhonePageState = {},
): void {
  const { pages, smsOffered: offered } = deps;
  const pageState = pages.shownAt(req, res, path, state);
  if (!pageState) return;
  // The field starts with the present number, so an empty one means its removal.
  const { status = 200, value = user.phone ?? '', ...noticeName } = pageState;
  const about = { action: path, value, offered, removable: phoneRemovable(user) };
  pages.send(req, res, status, (ctx) => createElement(PhonePage, { ctx, ...about, ...noticeName }), {
    title: (ctx) => ctx.t('contact.phone.title'),
    address: path,
  });
}

/** GET /settings/phone. */
function show(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const typed = await deps.formDrafts.takeDraft(req, res, member.user.id);
    const { t } = req;
    sendPage(deps, req, res, member, {
      value: typed?.phone_number,
      ...(isChangeExpired(req) && { problem: { text: t('contact.code.expired') } }),
    });
  };
}

/** The text for each refusal, and its place. */
function refused(res: Response, t: T, refusal: PhoneRefusal): PhonePageState {
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
      const { status, text } = retryAfterFields(res, t, refusal);
      return { status, problem: { title: t('contact.code.failed'), text } };
    }
  }
}

async function remove(deps: AccountDeps, req: Request, res: Response, member: SignedInUser) {
  const { t } = req;
  const removed = await deps.contact.phone.remove(member.user, getRequestOrigin(req));
  deps.log.info({ act: 'remove-phone', outcome: removed }, 'phone number removal');
  if (removed !== 'in-use') return res.redirect(303, accountHomeUrl('phone-removed'));
  sendPage(deps, req, res, member, { status: 409, problem: { text: t('contact.phone.inUse') } });
}

/**
 * POST /settings/phone: sends a code to the new number; an empty field, or the button beside it, removes the present
 * one.
 */
function submit(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const { contact, log } = deps;
    const value = readFormField(req, 'phone_number');
    const { t } = req;
    const isEmpty = value.trim() === '';
    if (isEmpty && member.user.phone === null) {
      return sendPage(deps, req, res, member, { status: 400, error: t('settings.errors.empty') });
    }
    if (isEmpty || readFormField(req, 'act') === 'remove') return remove(deps, req, res, member);
    const requested = await contact.phone.ask(member.user, value, getRequestOrigin(req));
    const outcome = toPublicOutcome(requested.kind === 'asked' ? requested.kind : requested.refusal.kind);
    log.info({ act: 'change-phone', outcome }, 'phone number change');
    if (requested.kind === 'asked') {
      contact.flows.setChangeCookie(res, 'phone', requested.flow);
      return res.redirect(303, codePath('phone'));
    }
    sendPage(deps, req, res, member, { status: 400, value, ...refused(res, t, requested.refusal) });
  };
}

/** Edit Phone, and the code that proves the new number. */
export function phoneRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(path)
    .get(requireRecentAuth(deps, show(deps)))
    .post(requireRecentAuth(deps, submit(deps), { phone_number: 40 }))
    .all(only);
  router
    .route(codePath('phone'))
    .get(requireRecentAuth(deps, showCode(deps, 'phone')))
    .post(requireRecentAuth(deps, submitCode(deps, 'phone')))
    .all(only);
}
