import { z } from 'zod';
import type { TextKey } from '../../../locales/index.ts';
import { defineAction, formField, type RefusalRules } from '../../http/index.ts';
import { limitRefusals } from '../../password/index.ts';
import type { ActionCaller } from '../form-page.ts';
import { type EmailRefusal, requestEmailChange } from './change-email.ts';
import { type PhoneRefusal, requestPhoneChange } from './change-phone.ts';
import type { ContactDeps } from './contact-deps.ts';
import type { ContactChangeKind } from './pending-contact-changes.ts';
import type { CodeRejection } from './verify-contact-code.ts';

/** The input is wrong: shown at this field. */
const at = (field: string, text: TextKey) => ({ problem: 'badRequest' as const, text, field });

/** Sends a code to a new address. */
export const changeEmailAction = defineAction({
  id: 'change-email',
  form: {
    email: formField('email', {
      schema: z.string(),
      type: 'email',
      inputMode: 'email',
      autoComplete: 'email',
      autoCapitalize: 'none',
      spellCheck: false,
      required: true,
    }),
  },
  run: ({ contact }: { contact: ContactDeps }, { user, from }: ActionCaller, { email }) =>
    requestEmailChange(contact, user, { typed: email, from }),
  refusals: {
    malformed: at('email', 'signUp.errors.email'),
    same: at('email', 'contact.email.same'),
    ...limitRefusals,
  } satisfies RefusalRules<EmailRefusal>,
});

/** Sends a code to a new number. */
export const changePhoneAction = defineAction({
  id: 'change-phone',
  form: {
    phone: formField('phone_number', { schema: z.string(), type: 'tel', inputMode: 'tel', autoComplete: 'tel' }),
  },
  run: ({ contact }: { contact: ContactDeps }, { user, from }: ActionCaller, { phone }) =>
    requestPhoneChange(contact, user, { typed: phone, from }),
  refusals: {
    malformed: at('phone_number', 'contact.phone.invalid'),
    impossible: at('phone_number', 'contact.phone.impossible'),
    unreachable: at('phone_number', 'contact.phone.unreachable'),
    same: at('phone_number', 'contact.phone.same'),
    'not-offered': { problem: 'badRequest', text: 'contact.phone.notOffered' },
    ...limitRefusals,
  } satisfies RefusalRules<PhoneRefusal>,
});

/** A typed code that is not accepted. */
export const codeRefusals = (kind: ContactChangeKind): RefusalRules<CodeRejection> => ({
  incomplete: { ...at('code', 'password.reset.codeIncomplete'), apiText: 'password.reset.codeWrong' },
  incorrect: at('code', 'password.reset.codeWrong'),
  invalidated: at('code', 'password.reset.codeExpired'),
  'not-found': at('code', 'password.reset.codeExpired'),
  'already-in-use': { problem: 'conflict', text: `contact.${kind}.alreadyInUse` },
  'too-many': limitRefusals['too-many'],
});
