import { z } from 'zod';
import { doc } from './schema-doc.ts';

/** The answer of calls that return no data, in the identity service's words. */
export const successSchema = z
  .object({ status: z.literal('SUCCESS').meta(doc('Always SUCCESS')) })
  .meta({ id: 'Success', description: 'The change is stored.' });
export const success = { status: 'SUCCESS' as const };

/** Callers of the identity service know the user name alone. */
const flowMissing = 'the flow of the answer of the call that sent the code; username is not enough';
export const flowField = z
  .string({ error: flowMissing })
  .max(100)
  .brand<'FlowId'>()
  .meta(doc('From the answer of the call before; a secret of the caller', 'V1StGXR8Z5jdHi6BmyT3qK0cW7uN4oPx'));

/** A code of a mail, a text message or an authenticator app. */
export const codeField = (max: number) => z.string().max(max).meta(doc('The six digits', '123456'));

export const passwordField = (description: string) =>
  z
    .string()
    .max(2_000)
    .meta({ ...doc(description, 'correct horse 9'), format: 'password' });

/** The answer of calls that send a code. */
export const codeSentSchema = z
  .object({
    flow: z
      .string()
      .meta(doc('A secret of the caller: the code is valid only with it', 'V1StGXR8Z5jdHi6BmyT3qK0cW7uN4oPx')),
    deliveryMedium: z.enum(['EMAIL', 'SMS']).meta(doc('By mail, or by text message')),
    expiresInSeconds: z.int().meta(doc('Seconds for which the code is valid', 900)),
  })
  .meta({ id: 'CodeSent', description: 'A code is on its way.' });
