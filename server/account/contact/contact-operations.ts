import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  defineOperation,
  getRequestOrigin,
  HttpError,
  translator,
} from '../../http/index.ts';
import { codeMinutes } from '../../messages/index.ts';
import { flowIdSchema } from '../../shared/index.ts';
import { requireCallingUser } from '../../users/index.ts';
import { removeUserPhone } from './change-phone.ts';
import { changeEmailAction, changePhoneAction, confirmChangeAction } from './contact-actions.ts';
import type { ContactDeps } from './contact-deps.ts';

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
      const caller = { user, from: getRequestOrigin(req) };
      const { flow } = await callAction(changeEmailAction, {
        deps: { contact: deps },
        caller,
        texts: { email: body.email },
      });
      return { flow, deliveryMedium: 'EMAIL' as const, expiresInSeconds };
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
          publicDetail: translator('en')('contact.phone.inUse'),
          detail: 'phone number is used as second factor',
        });
      }
      const { flow } = await callAction(changePhoneAction, {
        deps: { contact: deps },
        caller: { user, from },
        texts: { phone: body.phone_number },
      });
      return { flow, deliveryMedium: 'SMS' as const, expiresInSeconds };
    },
  });
}

const kinds = { email: 'email', phone_number: 'phone' } as const;

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
      const user = await requireCallingUser(req, deps.database);
      const caller = { user, from: getRequestOrigin(req), id: flow };
      await callAction(confirmChangeAction(kinds[attribute]), { deps: { contact: deps }, caller, texts: { code } });
      return { status: 'SUCCESS' as const };
    },
  });
}

/** The identity service operations of this module: the same rules as behind its pages. */
export function contactOperations(deps: ContactDeps): ApiOperation[] {
  return [changeEmail(deps), changePhone(deps), verifyUserAttribute(deps)];
}
