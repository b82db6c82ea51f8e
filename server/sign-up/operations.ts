import type { Request } from 'express';
import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  codeField,
  defineOperation,
  doc,
  flowField,
  HttpError,
  type Language,
  languages,
  resolveLanguage,
  shownAsRequired,
  toInvalidParams,
  toRefusalError,
  toRetrySeconds,
  translator,
} from '../http/index.ts';
import { hashForApi } from '../password/index.ts';
import type { SignUpDeps } from './deps.ts';
import { profileForm } from './profile-input.ts';
import { resendCode } from './send-code.ts';
import { startSignUpRefusals, verifyEmailAction } from './sign-up-texts.ts';
import { type StartSignUpInput, type StartSignUpRefusal, startSignUp } from './start-sign-up.ts';

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

const signUpFlow = z
  .object({
    flow: z
      .string()
      .meta(doc('A secret of the caller: the code is valid only with it', 'V1StGXR8Z5jdHi6BmyT3qK0cW7uN4oPx')),
  })
  .meta({ id: 'SignUpFlow', description: 'A sign-up that waits for its code.' });

function signUp(deps: SignUpDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/signUp',
    id: 'signUp',
    summary: 'Begin a sign-up',
    description: 'Mails a code to the address. `confirmSignUp` accepts it together with `flow`.',
    body: z.object({
      email: z.string().meta({ ...doc('Email address of the new member', 'ada@example.com'), maxLength: 254 }),
      // A missing password is refused like an empty one, with the specification's text.
      password: z
        .string()
        .default('')
        .meta({
          ...doc('At least 8 characters, a number or a symbol, neither name nor address in it', 'correct horse 9'),
          ...shownAsRequired,
          format: 'password',
          maxLength: 2_000,
        }),
      given_name: z.string().meta({ ...doc('Given name', 'Ada'), maxLength: 100 }),
      family_name: z.string().meta({ ...doc('Family name', 'Lovelace'), maxLength: 100 }),
      locale: z.enum(languages).optional().meta(doc('Language of the mails; by default that of Accept-Language')),
      zoneinfo: z
        .string()
        .max(100)
        .optional()
        .meta(doc('Time zone of the IANA database; an unknown one is ignored', 'Europe/Berlin')),
      source: z
        .enum(['general', 'appsumo'])
        .optional()
        .meta(doc('appsumo: the buyer of a partner deal, which must exist for the address')),
      tos_version: z
        .int()
        .optional()
        .meta(doc('The version of the terms that was shown and accepted; without it the member is asked later', 1)),
    }),
    answer: signUpFlow,
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
    summary: 'Confirm a sign-up',
    description: 'The code creates the member. The call signs no one in.',
    body: z.object({ flow: flowField, code: codeField(20) }),
    answer: z.object({ sub: z.string().meta(doc('Id of the member', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f')) }),
    problems: { 404: 'Nothing to confirm: unknown, expired, or confirmed already', 409: 'The address is a member’s' },
    async handle({ req, body }) {
      const caller = { flowId: body.flow, ip: req.ip ?? '', flow: 'sign-up' } as const;
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
    summary: 'Send another code of a sign-up',
    description: 'The code before becomes invalid.',
    body: z.object({ flow: flowField }),
    answer: signUpFlow,
    problems: { 404: 'Nothing to confirm: unknown, expired, or confirmed already' },
    async handle({ req, body }) {
      const sent = await resendCode(deps, body.flow, { lang: requestLanguage(req), ip: req.ip ?? '' });
      if (sent.kind === 'not-found') throw new HttpError('unknownFlow');
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
