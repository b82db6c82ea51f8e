import { z } from 'zod';
import {
  codeForm,
  defineAction,
  emailControl,
  expiredCode,
  formField,
  type RefusalRules,
  wrongCode,
  wrongInput,
} from '../../http/index.ts';
import { limitRefusals } from '../../password/index.ts';
import type { FlowId } from '../../shared/index.ts';
import type { ActionCaller } from '../settings-page.ts';
import { confirmEmailChange, type EmailRefusal, requestEmailChange } from './change-email.ts';
import { confirmPhoneChange, type PhoneRefusal, requestPhoneChange } from './change-phone.ts';
import type { ContactDeps } from './contact-deps.ts';
import type { ContactChangeKind } from './pending-contact-changes.ts';
import type { CodeRejection } from './verify-contact-code.ts';

/** Sends a code to a new address. */
export const changeEmailAction = defineAction({
  id: 'change-email',
  form: {
    email: formField('email', {
      ...emailControl,
      schema: z.string(),
      required: true,
    }),
  },
  run: ({ contact }: { contact: ContactDeps }, { user, from }: ActionCaller, { email }) =>
    requestEmailChange(contact, user, { typed: email, from }),
  refusals: {
    malformed: wrongInput('signUp.errors.email', 'email'),
    same: wrongInput('contact.email.same', 'email'),
    ...limitRefusals,
  } satisfies RefusalRules<EmailRefusal>,
});

/** Sends a code to a new number. */
export const changePhoneAction = defineAction({
  id: 'change-phone',
  form: {
    phone: formField('phone_number', { schema: z.string(), type: 'tel', inputMode: 'tel', autoComplete: 'tel' }),
  },
  run: ({ contact }: { contact: ContactDeps }, { user, from, browser }: ActionCaller, { phone }) =>
    requestPhoneChange(contact, user, { typed: phone, from, browser }),
  refusals: {
    malformed: wrongInput('contact.phone.invalid', 'phone_number'),
    'no-country-code': {
      ...wrongInput('contact.phone.countryMissing', 'phone_number'),
      apiText: 'contact.phone.invalid',
    },
    impossible: wrongInput('contact.phone.impossible', 'phone_number'),
    unreachable: wrongInput('contact.phone.unreachable', 'phone_number'),
    same: wrongInput('contact.phone.same', 'phone_number'),
    'not-offered': { problem: 'notPossibleNow', pageStatus: 400, text: 'contact.phone.notOffered' },
    ...limitRefusals,
  } satisfies RefusalRules<PhoneRefusal>,
});

const confirmChange = { email: confirmEmailChange, phone: confirmPhoneChange };

/** A typed code that is not accepted. */
const codeRefusals = (kind: ContactChangeKind): RefusalRules<CodeRejection> => ({
  incomplete: { ...wrongCode('codes.incomplete', 'code'), apiText: 'codes.wrong' },
  incorrect: wrongCode('codes.wrong', 'code'),
  invalidated: expiredCode('codes.expired', 'code'),
  'not-found': expiredCode('codes.expired', 'code'),
  'already-in-use': { problem: 'alreadyExists', text: `contact.${kind}.alreadyInUse` },
  'too-many': limitRefusals['too-many'],
});

/** The code from a new address or number. `id`: the flow in which it was sent. */
export const confirmChangeAction = (kind: ContactChangeKind) =>
  defineAction({
    id: `change-${kind}`,
    form: codeForm,
    async run(
      { contact }: { contact: ContactDeps },
      { user, from, id }: ActionCaller & { id: FlowId },
      { code: typed },
    ) {
      const confirmed = await confirmChange[kind](contact, user, { id, typed, from });
      return confirmed.kind === 'changed' ? confirmed : { kind: 'refused' as const, refusal: confirmed };
    },
    refusals: codeRefusals(kind),
  });
