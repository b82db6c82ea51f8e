import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  defineOperation,
  HttpError,
  requirePrincipal,
  toRefusalError,
  translator,
} from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { flowIdSchema } from '../shared/index.ts';
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
/** Longer than any password that is hashed; the policy refuses those that are too long. */
const anyPassword = z.string().max(2_000);

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
    summary: 'Mails a code for a new password',
    body: z.object({ username: z.string().max(1_000) }),
    answer: z.object({
      /** A secret: the code is valid only with it. */
      flow: z.string(),
      deliveryMedium: z.literal('EMAIL'),
      expiresInSeconds: z.int(),
    }),
    problems: { 404: 'No such member; never where one answer is given to all' },
    async handle({ req, body }) {
      // There are no cookies here, so no device is known.
      const caller = { lang, ip: req.ip ?? '', device: () => undefined };
      const { flow } = await callAction(forgotPasswordAction, { deps, caller, texts: body });
      return { flow, deliveryMedium: 'EMAIL' as const, expiresInSeconds: codeMinutes * 60 };
    },
  });
}

const done = z.object({ status: z.literal('SUCCESS') });

function forgotPasswordSubmit(deps: PasswordDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/forgotPasswordSubmit',
    id: 'forgotPasswordSubmit',
    summary: 'Sets a new password by a code; ends all sessions, grants and refresh tokens of the member',
    body: z.object({ flow: flowIdSchema.max(100), code: z.string().max(100), newPassword: anyPassword }),
    answer: done,
    async handle({ req, body }) {
      const { flow, code, newPassword } = body;
      if (newPassword === '') {
        throw new HttpError('badRequest', {
          publicDetail: t('password.reset.passwordEmpty'),
          detail: 'no new password',
        });
      }
      const reset = await hashForApi(deps, () =>
        resetPassword(deps, flow, { code, password: newPassword, from: { ip: req.ip ?? '', lang } }),
      );
      if (reset.kind === 'reset') return { status: 'SUCCESS' as const };
      throw toRefusalError(resetRefusals, reset.refusal, invalidPassword(reset.refusal));
    },
  });
}

function changePasswordOperation(deps: PasswordDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/changePassword',
    id: 'changePassword',
    summary:
      'Sets a new password by the old one. All sessions, grants and tokens of the member end; only the session that asked goes on, under a new id',
    body: z.object({ oldPassword: anyPassword, newPassword: anyPassword }),
    answer: done,
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
        return { status: 'SUCCESS' as const };
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
