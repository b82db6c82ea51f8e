import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { PhonePage } from '../../views/settings/contact-pages.tsx';
import type { ActProblem } from '../../views/settings/settings-act.tsx';
import type { User } from '../account/index.ts';
import type { PhoneRefusal } from '../contact/index.ts';
import { field, methodNotAllowed, type T } from '../http/index.ts';
import { originOf } from '../session/index.ts';
import { codePath, isGone, showCode, submitCode, waitShown } from './contact-code.ts';
import type { SettingsDeps } from './deps.ts';
import { type MemberHandler, recently, type SignedIn } from './guard.ts';
import { homeAfter } from './notices.ts';

const path = '/settings/phone';

interface Shown {
  status?: number;
  value?: string | undefined;
  error?: string;
  problem?: ActProblem;
}

function removableOf({ phone, mfaPreference }: User): 'yes' | 'no' | 'in-use' {
  if (phone === null) return 'no';
  return mfaPreference === 'sms' ? 'in-use' : 'yes';
}

function sendPage(deps: SettingsDeps, req: Request, res: Response, { user }: SignedIn, given: Shown = {}): void {
  const { pages, smsOffered: offered } = deps;
  const shown = pages.shownAt(req, res, path, given);
  if (!shown) return;
  // With the present one in it, a field that is sent empty was emptied.
  const { status = 200, value = user.phone ?? '', ...said } = shown;
  const about = { action: path, value, offered, removable: removableOf(user) };
  pages.send(req, res, status, (ctx) => createElement(PhonePage, { ctx, ...about, ...said }), {
    title: (ctx) => ctx.t('contact.phone.title'),
    address: path,
  });
}

/** GET /settings/phone. */
function show(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const typed = await deps.stash.take(req, res, member.user.id);
    const { t } = req;
    sendPage(deps, req, res, member, {
      value: typed?.phone_number,
      ...(isGone(req) && { problem: { text: t('contact.code.gone') } }),
    });
  };
}

/** Which text stands where for each refusal. */
function refused(res: Response, t: T, refusal: PhoneRefusal): Shown {
  // The specification's error bar goes by itself; the field's own words stay.
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
      const { status, text } = waitShown(res, t, refusal);
      return { status, problem: { title: t('contact.code.failed'), text } };
    }
  }
}

async function remove(deps: SettingsDeps, req: Request, res: Response, member: SignedIn) {
  const { t } = req;
  const removed = await deps.contact.phone.remove(member.user, originOf(req));
  deps.log.info({ act: 'remove-phone', outcome: removed }, 'a number is taken away');
  if (removed !== 'in-use') return res.redirect(303, homeAfter('phone-removed'));
  sendPage(deps, req, res, member, { status: 409, problem: { text: t('contact.phone.inUse') } });
}

/** POST /settings/phone: a code goes to the new number; none given, or the button beside it, takes the present one away. */
function submit(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const { contact, log } = deps;
    const value = field(req, 'phone_number');
    const { t } = req;
    const isEmpty = value.trim() === '';
    if (isEmpty && member.user.phone === null) {
      return sendPage(deps, req, res, member, { status: 400, error: t('settings.errors.empty') });
    }
    if (isEmpty || field(req, 'act') === 'remove') return remove(deps, req, res, member);
    const asked = await contact.phone.ask(member.user, value, originOf(req));
    log.info({ act: 'change-phone', outcome: asked.kind === 'asked' ? 'asked' : asked.refusal.kind }, 'new number');
    if (asked.kind === 'asked') {
      contact.flows.giveTo(res, 'phone', asked.flow);
      return res.redirect(303, codePath('phone'));
    }
    sendPage(deps, req, res, member, { status: 400, value, ...refused(res, t, asked.refusal) });
  };
}

/** Edit Phone, and the code that shows that the new number is the member's. */
export function phoneRoutes(router: Router, deps: SettingsDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(path)
    .get(recently(deps, show(deps)))
    .post(recently(deps, submit(deps), { phone_number: 40 }))
    .all(only);
  router
    .route(codePath('phone'))
    .get(recently(deps, showCode(deps, 'phone')))
    .post(recently(deps, submitCode(deps, 'phone')))
    .all(only);
}
