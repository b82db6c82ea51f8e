import { z } from 'zod';
import {
  type ApiOperation,
  callAction,
  codeField,
  codeSentSchema,
  defineOperation,
  doc,
  flowField,
  getRequestOrigin,
  HttpError,
  success,
  successSchema,
  translator,
} from '../../http/index.ts';
import { codeMinutes } from '../../messages/index.ts';
import { requireCallingUser } from '../../users/index.ts';
import { removeUserPhone } from './change-phone.ts';
import { changeEmailAction, changePhoneAction, confirmChangeAction } from './contact-actions.ts';
import type { ContactDeps } from './contact-deps.ts';

const expiresInSeconds = codeMinutes * 60;

function changeEmail(deps: ContactDeps): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/identity/changeEmail',
    id: 'changeEmail',
    summary: 'Send a code to a new email address',
    description:
      'The present address stays until `verifyUserAttribute` confirms the new one. A mail to it reports the request.',
    body: z.object({ email: z.string().max(1_000).meta(doc('The new email address', 'ada.new@example.com')) }),
    answer: codeSentSchema,
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
    summary: 'Send a code to a new phone number',
    description: 'An empty number removes the present one at once, and the answer has `status` alone.',
    body: z.object({
      phone_number: z
        .string()
        .max(1_000)
        .meta(doc('The new number, international; empty removes it', '+4915112345678')),
    }),
    answer: z
      .union([codeSentSchema, successSchema])
      .meta({ id: 'PhoneChange', description: 'A code is on its way, or the number is removed.' }),
    problems: { 409: 'The number carries the second factor in use' },
    async handle({ req, body }) {
      const user = await requireCallingUser(req, deps.database);
      const from = getRequestOrigin(req);
      if (body.phone_number === '') {
        if ((await removeUserPhone(deps, user, from)) !== 'in-use') return success;
        throw new HttpError('notPossibleNow', {
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
    summary: 'Confirm a new email address or phone number',
    description: 'The code makes the address or number the member’s.',
    body: z.object({
      attribute: z.enum(Object.keys(kinds) as (keyof typeof kinds)[]).meta(doc('The attribute that changes')),
      flow: flowField,
      code: codeField(100),
    }),
    answer: successSchema,
    problems: { 409: 'It is another member’s' },
    async handle({ req, body: { attribute, flow, code } }) {
      const user = await requireCallingUser(req, deps.database);
      const caller = { user, from: getRequestOrigin(req), id: flow };
      await callAction(confirmChangeAction(kinds[attribute]), { deps: { contact: deps }, caller, texts: { code } });
      return success;
    },
  });
}

/** The identity service operations of this module: the same rules as behind its pages. */
export function contactOperations(deps: ContactDeps): ApiOperation[] {
  return [changeEmail(deps), changePhone(deps), verifyUserAttribute(deps)];
}
