import type { Request } from 'express';
import { z } from 'zod';
import {
  HttpError,
  type Language,
  languageOf,
  languages,
  type Operation,
  operation,
  retrySeconds,
} from '../http/index.ts';
import { hashing } from '../password/index.ts';
import { type BeginInput, type BeginRefusal, beginSignUp } from './begin.ts';
import { confirmSignUp } from './confirm.ts';
import type { SignUpDeps } from './deps.ts';
import type { ProfileFaults } from './new-sign-up.ts';
import { resendCode } from './resend.ts';
import { fieldNames } from './texts.ts';

const flow = z.string().max(100).describe('From the answer of the call before: a secret of whoever asked');

const langOf = (req: Request, said?: Language): Language => said ?? languageOf(req.get('accept-language'));

function faultsOf({ empty, email, password }: ProfileFaults): { name: string; detail: string }[] {
  return [
    ...empty.map((name) => ({ name: `body.${fieldNames[name]}`, detail: 'Cannot be empty' })),
    ...(email ? [{ name: 'body.email', detail: 'Invalid E-Mail Address' }] : []),
    ...password.map((fault) => ({ name: 'body.password', detail: fault })),
  ];
}

function refusedAs(refusal: BeginRefusal): HttpError {
  switch (refusal.kind) {
    case 'invalid': {
      const noPassword = refusal.faults.empty.includes('password');
      const said = noPassword ? 'Password cannot be empty.' : 'Validation Error Detected';
      return new HttpError('validation', { said, faults: faultsOf(refusal.faults) });
    }
    case 'taken':
      return new HttpError('conflict', { said: 'An account with the given email already exists.' });
    case 'no-deal':
      return new HttpError('validation', { faults: [{ name: 'body.source', detail: 'no deal for this address' }] });
    case 'too-many':
      return new HttpError('tooMany', { retryAfterSeconds: retrySeconds(refusal.retryAfterMs) });
  }
}

function signUp(deps: SignUpDeps): Operation {
  return operation({
    method: 'post',
    path: '/identity/signUp',
    id: 'signUp',
    summary: 'Begins an account; a code is mailed to its address',
    body: z.object({
      email: z.string(),
      // Left out it is refused like an empty one, in the specification's words.
      password: z
        .string()
        .default('')
        .describe('Required. At least 8 characters, a number or a symbol, neither name nor address in it'),
      given_name: z.string(),
      family_name: z.string(),
      locale: z.enum(languages).optional().describe('Of the mails; else what Accept-Language says'),
      source: z.enum(['general', 'appsumo']).optional(),
      tos_version: z
        .int()
        .optional()
        .describe('The version of the terms that was shown and accepted; else asked for later'),
    }),
    answer: z.object({ flow: z.string() }),
    problems: { 409: 'An account with the given email already exists' },
    async handle({ req, body }) {
      const input: BeginInput = {
        givenName: body.given_name,
        familyName: body.family_name,
        email: body.email,
        password: body.password,
        lang: langOf(req, body.locale),
        source: body.source ?? 'general',
        planKey: null,
        termsVersion: body.tos_version,
        errand: '',
        from: { ip: req.ip ?? '', userAgent: req.get('user-agent') ?? null, clientId: null },
      };
      const begun = await hashing(deps, () => beginSignUp(deps, input));
      if (begun.kind === 'refused') throw refusedAs(begun.refusal);
      return { flow: begun.flow };
    },
  });
}

function confirm(deps: SignUpDeps): Operation {
  return operation({
    method: 'post',
    path: '/identity/confirmSignUp',
    id: 'confirmSignUp',
    summary: 'Makes an account that was begun a member by its code; signs nobody in',
    body: z.object({ flow, code: z.string().max(20) }),
    answer: z.object({ sub: z.string() }),
    problems: { 404: 'Nothing to confirm: unknown, expired, or confirmed already', 409: 'The address is a member’s' },
    async handle({ req, body }) {
      const confirmed = await confirmSignUp(deps, body.flow, body.code, { ip: req.ip ?? '' });
      switch (confirmed.kind) {
        case 'confirmed':
          return { sub: confirmed.user.id };
        case 'gone':
          throw new HttpError('notFound');
        case 'taken':
          throw new HttpError('conflict', { said: 'An account with the given email already exists.' });
        case 'too-many':
          throw new HttpError('tooMany', { retryAfterSeconds: retrySeconds(confirmed.retryAfterMs) });
        case 'disabled':
          throw new HttpError('forbidden', { said: 'User is disabled.' });
        default:
          throw new HttpError('validation', { detail: confirmed.kind, said: 'Invalid code' });
      }
    },
  });
}

function resend(deps: SignUpDeps): Operation {
  return operation({
    method: 'post',
    path: '/identity/resendConfirmationCode',
    id: 'resendConfirmationCode',
    summary: 'Mails another code; the one before is void',
    body: z.object({ flow }),
    answer: z.object({ flow: z.string() }),
    problems: { 404: 'Nothing to confirm: unknown, expired, or confirmed already' },
    async handle({ req, body }) {
      const sent = await resendCode(deps, body.flow, { lang: langOf(req), ip: req.ip ?? '' });
      if (sent.kind === 'gone') throw new HttpError('notFound');
      if (sent.kind === 'refused') {
        throw new HttpError('tooMany', { said: 'Sending Failed', retryAfterSeconds: retrySeconds(sent.retryAfterMs) });
      }
      return { flow: body.flow };
    },
  });
}

/** The identity service's operations of a sign-up (the specification's section 7), by the same rules as the forms. */
export function signUpOperations(deps: SignUpDeps): Operation[] {
  return [signUp(deps), confirm(deps), resend(deps)];
}
