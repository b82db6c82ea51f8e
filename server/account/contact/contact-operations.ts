import { z } from 'zod';
import {
  type ApiOperation,
  defineOperation,
  getRequestOrigin,
  HttpError,
  toRetrySeconds,
  translator,
} from '../../http/index.ts';
import { codeMinutes } from '../../messages/index.ts';
import { retryAfterText } from '../../password/index.ts';
import { flowIdSchema } from '../../shared/index.ts';
import { requireCallingUser } from '../../users/index.ts';
import { confirmEmailChange, requestEmailChange } from './change-email.ts';
import { confirmPhoneChange, type PhoneRefusal, removeUserPhone, requestPhoneChange } from './change-phone.ts';
import type { ContactDeps } from './contact-deps.ts';
import type { CodeRejection, CodeThrottled } from './verify-contact-code.ts';

/** The texts of the JSON API. */
const t = translator('en');

const badRequest = (publicDetail: string, detail: string) => new HttpError('badRequest', { publicDetail, detail });

function codeRefusal({ kind, retryAfterMs }: CodeThrottled): HttpError {
  const retryAfterSeconds = toRetrySeconds(retryAfterMs);
  return new HttpError('tooMany', {
    publicDetail: retryAfterText(t, kind, retryAfterMs),
    detail: kind,
    retryAfterSeconds,
  });
}

function phoneRefusal(refusal: PhoneRefusal): HttpError {
  switch (refusal.kind) {
    case 'malformed':
      return badRequest(t('contact.phone.invalid'), 'no number');
    case 'impossible':
      return badRequest(t('contact.phone.impossible'), 'no possible number');
    case 'unreachable':
      return badRequest(t('contact.phone.unreachable'), 'no text messages are sent there');
    case 'same':
      return badRequest(t('contact.phone.same'), 'the same number');
    case 'not-offered':
      return badRequest(t('contact.phone.notOffered'), 'no text messages are sent');
    default:
      return codeRefusal(refusal);
  }
}

function confirmRefusal(kind: 'email' | 'phone', refusal: CodeRejection): HttpError {
  switch (refusal.kind) {
    case 'incomplete':
    case 'incorrect':
      return badRequest(t('password.reset.codeWrong'), refusal.kind);
    case 'invalidated':
    case 'not-found':
      return badRequest(t('password.reset.codeExpired'), refusal.kind);
    case 'already-in-use':
      return new HttpError('conflict', {
        publicDetail: t(`contact.${kind}.alreadyInUse`),
        detail: 'already in use by another user',
      });
    case 'too-many':
      return codeRefusal(refusal);
  }
}

const done = z.object({ status: z.literal('SUCCESS') });
const toSentAnswer = <Medium extends 'EMAIL' | 'SMS'>(medium: Medium) =>
  z.object({
    /** A secret: the code is valid only with it. */
    flow: z.string(),
    deliveryMedium: z.literal(medium),
    expiresInSeconds: z.int(),
  });
const expiresInSeconds = codeMinutes * 60;

function changeEmail(deps: ContactDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/changeEmail',
    id: 'changeEmail',
    summary: 'Sends a code to a new email address; the present one stays until the code is shown, and is told at once',
    body: z.object({ email: z.string().max(1_000) }),
    answer: toSentAnswer('EMAIL'),
    async handle({ req, body }) {
      const user = await requireCallingUser(req, deps.database);
      const requested = await requestEmailChange(deps, user, { typed: body.email, from: getRequestOrigin(req) });
      if (requested.kind === 'asked')
        return { flow: requested.flow, deliveryMedium: 'EMAIL' as const, expiresInSeconds };
      switch (requested.refusal.kind) {
        case 'malformed':
          throw badRequest(t('signUp.errors.email'), 'no address');
        case 'same':
          throw badRequest(t('contact.email.same'), 'the same address');
        default:
          throw codeRefusal(requested.refusal);
      }
    },
  });
}

function changePhone(deps: ContactDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/changePhone',
    id: 'changePhone',
    summary: 'Sends a code to a new phone number; an empty one takes the present number away',
    body: z.object({ phone_number: z.string().max(1_000) }),
    answer: z.union([done, toSentAnswer('SMS')]),
    problems: { 409: 'The number carries the second factor in use' },
    async handle({ req, body }) {
      const user = await requireCallingUser(req, deps.database);
      const from = getRequestOrigin(req);
      if (body.phone_number === '') {
        if ((await removeUserPhone(deps, user, from)) !== 'in-use') return { status: 'SUCCESS' as const };
        throw new HttpError('conflict', {
          publicDetail: t('contact.phone.inUse'),
          detail: 'phone number is used as second factor',
        });
      }
      const requested = await requestPhoneChange(deps, user, { typed: body.phone_number, from });
      if (requested.kind === 'refused') throw phoneRefusal(requested.refusal);
      return { flow: requested.flow, deliveryMedium: 'SMS' as const, expiresInSeconds };
    },
  });
}

const kinds = { email: 'email', phone_number: 'phone' } as const;
const confirmChange = { email: confirmEmailChange, phone: confirmPhoneChange };

function verifyUserAttribute(deps: ContactDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/verifyUserAttribute',
    id: 'verifyUserAttribute',
    summary: 'Shows the code that was sent to a new email address or phone number, which becomes the member’s',
    body: z.object({
      attribute: z.enum(Object.keys(kinds) as (keyof typeof kinds)[]),
      flow: flowIdSchema.max(100),
      code: z.string().max(100),
    }),
    answer: done,
    problems: { 409: 'It is another member’s' },
    async handle({ req, body: { attribute, flow, code } }) {
      const kind = kinds[attribute];
      const user = await requireCallingUser(req, deps.database);
      const typed = { id: flow, typed: code, from: getRequestOrigin(req) };
      const confirmed = await confirmChange[kind](deps, user, typed);
      if (confirmed.kind === 'changed') return { status: 'SUCCESS' as const };
      throw confirmRefusal(kind, confirmed);
    },
  });
}

/** The identity service operations of this module: the same rules as behind its pages. */
export function contactOperations(deps: ContactDeps): ApiOperation[] {
  return [changeEmail(deps), changePhone(deps), verifyUserAttribute(deps)];
}
