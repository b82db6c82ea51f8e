import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  defineOperation,
  HttpError,
  type Language,
  languages,
  resolveLanguage,
  toInvalidParams,
  toRefusalError,
  toRetrySeconds,
  translator,
} from '../http/index.ts';
import { hashForApi } from '../password/index.ts';
import { flowIdSchema } from '../shared/index.ts';
import type { SignUpDeps } from './deps.ts';
import { profileForm } from './profile-input.ts';
import { resendCode } from './send-code.ts';
import { startSignUpRefusals, verifyEmailAction } from './sign-up-texts.ts';
import { type StartSignUpInput, type StartSignUpRefusal, startSignUp } from './start-sign-up.ts';

const flow = flowIdSchema.max(100).describe('From the answer of the call before: a secret of the caller');

const requestLanguage = (req: Request, submitted?: Language): Language =>
  submitted ?? resolveLanguage(req.get('accept-language'));

/** The faulty parts of the input; every fault of a password, by its name. */
function toFaults(refusal: StartSignUpRefusal) {
  if (refusal.kind === 'no-deal') {
    return { invalidParams: [{ name: 'body.source', detail: 'no deal for this address' }] };
  }
  if (refusal.kind !== 'invalid') return {};
  const { errors, password } = refusal;
  return { invalidParams: toInvalidParams(profileForm, { ...errors, ...(password.length > 0 && { password }) }) };
}

function signUp(deps: SignUpDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/signUp',
    id: 'signUp',
    summary: 'Begins an account; a code is mailed to its address',
    body: z.object({
      email: z.string(),
      // A missing password is refused like an empty one, with the specification's text.
      password: z
        .string()
        .default('')
        .describe('Required. At least 8 characters, a number or a symbol, neither name nor address in it'),
      given_name: z.string(),
      family_name: z.string(),
      locale: z.enum(languages).optional().describe('Of the mails; else what Accept-Language says'),
      zoneinfo: z.string().max(100).optional().describe('Time zone of the IANA database; an unknown one is ignored'),
      source: z.enum(['general', 'appsumo']).optional(),
      tos_version: z
        .int()
        .optional()
        .describe('The version of the terms that was shown and accepted; else asked for later'),
    }),
    answer: z.object({ flow: z.string() }),
    problems: { 409: 'An account with the given email already exists' },
    async handle({ req, body }) {
      const input: StartSignUpInput = {
        givenName: body.given_name,
        familyName: body.family_name,
        email: body.email,
        password: body.password,
        t: translator('en'),
        lang: requestLanguage(req, body.locale),
        source: body.source ?? 'general',
        planKey: null,
        termsVersion: body.tos_version,
        continuation: '',
        zoneinfo: body.zoneinfo,
        from: { ip: req.ip ?? '', userAgent: req.get('user-agent') ?? null, clientId: null },
      };
      const started = await hashForApi(deps, () => startSignUp(deps, input));
      if (started.kind !== 'begun') throw toRefusalError(startSignUpRefusals, started, toFaults(started));
      return { flow: started.flow };
    },
  });
}

function confirm(deps: SignUpDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/confirmSignUp',
    id: 'confirmSignUp',
    summary: 'Makes an account that was begun a member by its code; signs no one in',
    body: z.object({ flow, code: z.string().max(20) }),
    answer: z.object({ sub: z.string() }),
    problems: { 404: 'Nothing to confirm: unknown, expired, or confirmed already', 409: 'The address is a member’s' },
    async handle({ req, body }) {
      const caller = { flowId: body.flow, ip: req.ip ?? '' };
      const { user } = await callAction(verifyEmailAction, { deps, caller, texts: { code: body.code } });
      return { sub: user.id };
    },
  });
}

function resend(deps: SignUpDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/resendConfirmationCode',
    id: 'resendConfirmationCode',
    summary: 'Mails another code; the one before is void',
    body: z.object({ flow }),
    answer: z.object({ flow: z.string() }),
    problems: { 404: 'Nothing to confirm: unknown, expired, or confirmed already' },
    async handle({ req, body }) {
      const sent = await resendCode(deps, body.flow, { lang: requestLanguage(req), ip: req.ip ?? '' });
      if (sent.kind === 'not-found') throw new HttpError('notFound');
      if (sent.kind === 'refused') {
        throw new HttpError('tooMany', {
          publicDetail: 'Sending Failed',
          retryAfterSeconds: toRetrySeconds(sent.retryAfterMs),
        });
      }
      return { flow: body.flow };
    },
  });
}

/** The identity service's operations of a sign-up (the specification's section 7), by the same rules as the forms. */
export function signUpOperations(deps: SignUpDeps): ApiOperation[] {
  return [signUp(deps), confirm(deps), resend(deps)];
}
