import { z } from 'zod';
import { memberCalling } from '../account/index.ts';
import { codeMinutes } from '../codes/index.ts';
import { HttpError, type Operation, operation, retrySeconds, translator } from '../http/index.ts';
import { waitText } from '../password/index.ts';
import { originOf } from '../session/index.ts';
import type { Database } from '../store/index.ts';
import type { PhoneRefusal } from './phone-change.ts';
import type { CodeRefusal, CodeRefused } from './prove.ts';
import type { ContactRoom } from './room.ts';

interface OperationsDeps extends Pick<ContactRoom, 'email' | 'phone'> {
  database: Database;
  now: () => number;
}

/** The words of the JSON API. */
const t = translator('en');

const refused = (said: string, detail: string) => new HttpError('badRequest', { said, detail });

function codeRefusal({ kind, retryAfterMs }: CodeRefusal): HttpError {
  const retryAfterSeconds = retrySeconds(retryAfterMs);
  return new HttpError('tooMany', { said: waitText(t, kind, retryAfterMs), detail: kind, retryAfterSeconds });
}

function phoneRefusal(refusal: PhoneRefusal): HttpError {
  switch (refusal.kind) {
    case 'malformed':
      return refused(t('contact.phone.invalid'), 'no number');
    case 'impossible':
      return refused(t('contact.phone.impossible'), 'no possible number');
    case 'unreachable':
      return refused(t('contact.phone.unreachable'), 'no text messages are sent there');
    case 'same':
      return refused(t('contact.phone.same'), 'the same number');
    case 'not-offered':
      return refused(t('contact.phone.notOffered'), 'no text messages are sent');
    default:
      return codeRefusal(refusal);
  }
}

function confirmRefusal(kind: 'email' | 'phone', refusal: CodeRefused): HttpError {
  switch (refusal.kind) {
    case 'incomplete':
    case 'wrong':
      return refused(t('password.reset.codeWrong'), refusal.kind);
    case 'void':
    case 'gone':
      return refused(t('password.reset.codeGone'), refusal.kind);
    case 'taken':
      return new HttpError('conflict', { said: t(`contact.${kind}.taken`), detail: 'another member has it' });
    case 'too-many':
      return codeRefusal(refusal);
  }
}

const done = z.object({ status: z.literal('SUCCESS') });
const sent = <Medium extends 'EMAIL' | 'SMS'>(medium: Medium) =>
  z.object({
    /** A secret: the code is good with it alone. */
    flow: z.string(),
    deliveryMedium: z.literal(medium),
    expiresInSeconds: z.int(),
  });
const expiresInSeconds = codeMinutes * 60;

function changeEmail(deps: OperationsDeps): Operation {
  return operation({
    method: 'post',
    path: '/identity/changeEmail',
    id: 'changeEmail',
    summary: 'Sends a code to a new email address; the present one stays until the code is shown, and is told at once',
    body: z.object({ email: z.string().max(1_000) }),
    answer: sent('EMAIL'),
    async handle({ req, body }) {
      const asked = await deps.email.ask(await memberCalling(req, deps.database), body.email, originOf(req));
      if (asked.kind === 'asked') return { flow: asked.flow, deliveryMedium: 'EMAIL' as const, expiresInSeconds };
      switch (asked.refusal.kind) {
        case 'malformed':
          throw refused(t('signUp.errors.email'), 'no address');
        case 'same':
          throw refused(t('contact.email.same'), 'the same address');
        default:
          throw codeRefusal(asked.refusal);
      }
    },
  });
}

function changePhone(deps: OperationsDeps): Operation {
  return operation({
    method: 'post',
    path: '/identity/changePhone',
    id: 'changePhone',
    summary: 'Sends a code to a new phone number; an empty one takes the present number away',
    body: z.object({ phone_number: z.string().max(1_000) }),
    answer: z.union([done, sent('SMS')]),
    problems: { 409: 'The number carries the second factor in use' },
    async handle({ req, body }) {
      const user = await memberCalling(req, deps.database);
      if (body.phone_number === '') {
        if ((await deps.phone.remove(user, originOf(req))) !== 'in-use') return { status: 'SUCCESS' as const };
        throw new HttpError('conflict', { said: t('contact.phone.inUse'), detail: 'it carries the second factor' });
      }
      const asked = await deps.phone.ask(user, body.phone_number, originOf(req));
      if (asked.kind === 'refused') throw phoneRefusal(asked.refusal);
      return { flow: asked.flow, deliveryMedium: 'SMS' as const, expiresInSeconds };
    },
  });
}

const kinds = { email: 'email', phone_number: 'phone' } as const;

function verifyUserAttribute(deps: OperationsDeps): Operation {
  return operation({
    method: 'post',
    path: '/identity/verifyUserAttribute',
    id: 'verifyUserAttribute',
    summary: 'Shows the code that was sent to a new email address or phone number, which becomes the member’s',
    body: z.object({
      attribute: z.enum(Object.keys(kinds) as (keyof typeof kinds)[]),
      flow: z.string().max(100),
      code: z.string().max(100),
    }),
    answer: done,
    problems: { 409: 'It is another member’s' },
    async handle({ req, body: { attribute, flow, code } }) {
      const kind = kinds[attribute];
      const confirmed = await deps[kind].confirm(await memberCalling(req, deps.database), flow, code, originOf(req));
      if (confirmed.kind === 'changed') return { status: 'SUCCESS' as const };
      throw confirmRefusal(kind, confirmed);
    },
  });
}

/** The identity service operations of this room: the same rules as behind its pages. */
export function contactOperations(deps: OperationsDeps): Operation[] {
  return [changeEmail(deps), changePhone(deps), verifyUserAttribute(deps)];
}
