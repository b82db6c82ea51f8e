import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  codeField,
  codeSentSchema,
  defineOperation,
  doc,
  flowField,
  HttpError,
  passwordField,
  requirePrincipal,
  success,
  successSchema,
  toRefusalError,
  translator,
} from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { requireCallingUser } from '../users/index.ts';
import { changePassword, rotateSessionAfterPasswordChange } from './change-password.ts';
import type { PasswordDeps } from './deps.ts';
import { changePasswordRefusals, forgotPasswordAction, passwordErrorText, resetRefusals } from './password-texts.ts';
import type { PasswordFault } from './policy.ts';
import { hashForApi } from './queue.ts';
import { resetPassword } from './reset-password.ts';

/** The language of the JSON API's texts. */
const lang = 'en' as const;
const t = translator(lang);
/** The policy refuses passwords that are too long; the schema allows longer ones. */
const newPassword = passwordField('At least 8 characters, a number or a symbol, neither name nor address in it');

/** The faults of a new password, as invalid parts of the input. */
const invalidPassword = (refusal: { kind: string; faults?: readonly PasswordFault[] }) =>
  refusal.faults && {
    detail: refusal.faults.join(', '),
    invalidParams: refusal.faults.map((fault) => ({
      name: 'body.newPassword',
      detail: passwordErrorText(t, [fault]),
    })),
  };

function forgotPassword(deps: PasswordDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/forgotPassword',
    id: 'forgotPassword',
    summary: 'Request a code for a new password',
    description: 'Mails a code. `forgotPasswordSubmit` accepts it together with `flow`.',
    body: z.object({
      username: z.string().max(1_000).meta(doc('Email address of the member', 'ada@example.com')),
    }),
    answer: codeSentSchema,
    problems: { 404: 'No such member; never where one answer is given to all' },
    async handle({ req, body }) {
      // There are no cookies here, so no device is known.
      const caller = { lang, ip: req.ip ?? '', device: () => undefined };
      const { flow } = await callAction(forgotPasswordAction, { deps, caller, texts: body });
      return { flow, deliveryMedium: 'EMAIL' as const, expiresInSeconds: codeMinutes * 60 };
    },
  });
}

function forgotPasswordSubmit(deps: PasswordDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/forgotPasswordSubmit',
    id: 'forgotPasswordSubmit',
    summary: 'Set a new password by a code',
    description: 'Ends all sessions, grants and refresh tokens of the member.',
    body: z.object({ flow: flowField, code: codeField(100), newPassword }),
    answer: successSchema,
    async handle({ req, body }) {
      const { flow, code, newPassword: password } = body;
      if (password === '') {
        throw new HttpError('validation', {
          publicDetail: t('password.reset.passwordEmpty'),
          invalidParams: [{ name: 'body.newPassword', detail: t('password.reset.passwordEmpty') }],
          detail: 'no new password',
        });
      }
      const reset = await hashForApi(deps, () =>
        resetPassword(deps, flow, { code, password, from: { ip: req.ip ?? '', lang } }),
      );
      if (reset.kind === 'reset') return success;
      throw toRefusalError(resetRefusals, reset.refusal, invalidPassword(reset.refusal));
    },
  });
}

function changePasswordOperation(deps: PasswordDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/changePassword',
    id: 'changePassword',
    summary: 'Set a new password by the old one',
    description:
      'All other sessions, grants and tokens of the member end. The session that asked continues under a new id.',
    body: z.object({ oldPassword: passwordField('The present password'), newPassword }),
    answer: successSchema,
    problems: { 409: 'Someone else has set the password meanwhile' },
    async handle({ req, body }) {
      const principal = requirePrincipal(req);
      const user = await requireCallingUser(req, deps.database);
      const bySession = principal.kind === 'member' && principal.by === 'session';
      const device = bySession ? deps.devices.recognise(req, user) : undefined;
      const changed = await hashForApi(deps, () =>
        changePassword(deps, user, { ...body, from: { ip: req.ip ?? '', device, lang } }),
      );
      if (changed.kind === 'changed') {
        const session = bySession ? getCurrentSession(req) : undefined;
        if (session && req.res)
          await rotateSessionAfterPasswordChange({ req, res: req.res }, deps, { user: changed.user, session });
        return success;
      }
      const { refusal } = changed;
      throw toRefusalError(changePasswordRefusals, refusal, invalidPassword(refusal));
    },
  });
}

/** The identity service operations of this module: the same rules as behind its pages. */
export function passwordOperations(deps: PasswordDeps): ApiOperation[] {
  return [forgotPassword(deps), forgotPasswordSubmit(deps), changePasswordOperation(deps)];
}
