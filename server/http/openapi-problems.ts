import { z } from 'zod';
import { keysIn } from '../shared/index.ts';
import { type ApiProblem, apiProblems, problemType } from './problems.ts';
import { doc } from './schema-doc.ts';

const types = z.enum(keysIn(apiProblems).map(problemType));

const invalidField = z
  .object({
    name: z.string().meta(doc('Path of the faulty field', 'body.userId')),
    detail: z.string().meta(doc('Its fault; never its value', 'which member is meant')),
    stored: z.string().nullable().optional().meta(doc('With `differs`: what the server has instead', '10')),
  })
  .meta({ id: 'InvalidField', description: 'A field that does not fit.' });

const text = (description: string, example: string) => z.string().optional().meta(doc(description, example));
const seconds = (description: string, example: number) => z.int().optional().meta(doc(description, example));

/** The problem document of all calls. */
export const problemSchema = z
  .object({
    type: types.meta(doc('The cause', problemType('notFound'))),
    title: z.string().meta(doc('In English', 'No such call')),
    status: z.int().meta(doc('Status code of the answer', 404)),
    detail: z.string().meta(doc('For people, in English', 'There is no call at this address.')),
    instance: z.string().meta(doc('Names the line in the log', 'urn:foyer:reference:0F3A9C21B7')),
    errors: z.array(invalidField).optional().meta(doc('The fields that do not fit')),
    errMessage: text('The card provider’s own message', 'Your card was declined.'),
    client_secret: text('The bank requires the member: for Stripe.js', 'pi_3Nk_secret_9x'),
    scope: text('The scope that the token lacks', 'account:security'),
    max_age: seconds('Seconds that an authentication may be old', 600),
    acr_values: text('The authentication that is needed', 'aal2'),
    retryAfter: seconds('Seconds until the next call may be made, as in Retry-After', 30),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });

/** The problem document of one call, with the causes that this call has. @param name of the schema */
export const callProblemSchema = (causes: readonly ApiProblem[], name: string) =>
  problemSchema
    .extend({ type: z.enum(causes.map(problemType)).meta(doc('The cause')) })
    .meta({ id: name, description: 'Problem details (RFC 9457) with the causes of this call.' });
