import { z } from 'zod';
import {
  type ApiOperation,
  defineOperation,
  HttpError,
  requirePrincipal,
  toRetrySeconds,
  translator,
} from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import { flowIdSchema } from '../shared/index.ts';
import { requireCallingUser } from '../users/index.ts';
import { changePassword, rotateSessionAfterPasswordChange } from './change-password.ts';
import type { PasswordDeps } from './deps.ts';
import type { ResetRefusal } from './password-reset-state.ts';
import { passwordErrorText, resetRefusalText, retryAfterText } from './password-texts.ts';
import type { PasswordFault } from './policy.ts';
import { hashForApi } from './queue-full.ts';
import { requestReset } from './request-reset.ts';
import { resetPassword } from './reset-password.ts';

/** The language of the JSON API's texts. */
const lang = 'en';
const t = translator(lang);
/** Longer than any password that is hashed; the policy refuses those that are too long. */
const anyPassword = z.string().max(2_000);

const refused = (publicDetail: string, detail: string) => new HttpError('badRequest', { publicDetail, detail });
const tooMany = (why: 'too-soon' | 'daily-limit' | 'too-many', ms: number) =>
  new HttpError('tooMany', {
    publicDetail: retryAfterText(t, why, ms),
    detail: why,
    retryAfterSeconds: toRetrySeconds(ms),
  });
const notAllowed = (faults: readonly PasswordFault[], name: string) =>
  new HttpError('validation', {
    publicDetail: passwordErrorText(t, faults),
    detail: faults.join(', '),
    invalidParams: faults.map((fault) => ({ name: `body.${name}`, detail: passwordErrorText(t, [fault]) })),
  });

/** The refusal of a reset; the pages answer an unknown user and an incomplete code in other words. */
function refusedReset(refusal: ResetRefusal): HttpError {
  const { kind } = refusal;
  const publicDetail = resetRefusalText(t, refusal);
  switch (kind) {
    case 'unknown-user':
      return new HttpError('notFound', { publicDetail: t('signIn.errors.userDoesNotExist'), detail: kind });
    case 'disabled':
      return new HttpError('forbidden', { publicDetail, detail: kind });
    case 'incomplete':
      return refused(t('password.reset.codeWrong'), kind);
    case 'faults':
      return notAllowed(refusal.faults, 'newPassword');
    case 'too-soon':
    case 'daily-limit':
    case 'too-many':
      return tooMany(kind, refusal.retryAfterMs);
    default:
      return refused(publicDetail, kind);
  }
}

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
      const requested = await requestReset(
        deps,
        { username: body.username, lang },
        { ip: req.ip ?? '', device: () => undefined },
      );
      if (requested.kind === 'asked') {
        return { flow: requested.flow, deliveryMedium: 'EMAIL' as const, expiresInSeconds: codeMinutes * 60 };
      }
      throw refusedReset(requested.refusal);
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
      if (newPassword === '') throw refused(t('password.reset.passwordEmpty'), 'no new password');
      const reset = await hashForApi(deps, () =>
        resetPassword(deps, flow, { code, password: newPassword, from: { ip: req.ip ?? '', lang } }),
      );
      if (reset.kind === 'reset') return { status: 'SUCCESS' as const };
      throw refusedReset(reset.refusal);
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
      switch (refusal.kind) {
        case 'empty':
          throw refused(t('password.change.CHANGE_PASSWORD_MESSAGE_EROR'), 'one of the two is missing');
        case 'wrong-password':
          throw refused(t('signIn.errors.incorrect'), 'the old password is wrong');
        case 'faults':
          throw notAllowed(refusal.faults, 'newPassword');
        case 'too-many':
          throw tooMany('too-many', refusal.retryAfterMs);
        case 'meanwhile':
          throw new HttpError('conflict', { detail: 'password has changed' });
      }
    },
  });
}

/** The identity service operations of this module: the same rules as behind its pages. */
export function passwordOperations(deps: PasswordDeps): ApiOperation[] {
  return [forgotPassword(deps), forgotPasswordSubmit(deps), changePasswordOperation(deps)];
}
