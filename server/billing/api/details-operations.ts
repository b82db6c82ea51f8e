import { z } from 'zod';
import { type ApiOperation, callAction, defineOperation, doc, withDocs } from '../../http/index.ts';
import type { BillingModule } from '../billing-module.ts';
import { saveDetailsAction } from '../details/details-form.ts';
import type { BillingDetailsState } from '../results.ts';
import { findBillingOwner } from './api-errors.ts';
import { customerParams, detailsDocs } from './billing-docs.ts';

const text = (max: number) => z.string().max(max);
const optionalText = (max: number) => text(max).nullable().optional();
const path = '/customer/{stripeCustomerId}/billing-details';
const params = z.object(customerParams);

/** A value that is left out is removed. */
const body = z.object({
  name: optionalText(150),
  company: optionalText(150),
  line1: optionalText(200),
  line2: optionalText(200),
  postal_code: optionalText(20),
  city: optionalText(100),
  state: optionalText(100),
  /** ISO 3166-1 alpha-2. */
  country: optionalText(2),
  vat_id: optionalText(30),
});

const stored = z.string().nullable();
const answer = z.object({
  /** null: the name of the profile. */
  name: stored,
  company: stored,
  line1: stored,
  line2: stored,
  postal_code: stored,
  city: stored,
  state: stored,
  country: stored,
  vat_id: stored,
  /** The answer of the registry; null: it was not asked yet. */
  vat_id_status: z.enum(['pending', 'verified', 'unverified', 'unavailable']).nullable(),
  /** Nothing is charged without a country and a postal code. */
  required: z.boolean(),
});

const details = withDocs(answer, {
  ...detailsDocs,
  vat_id_status: doc('Answer of the registry; null: it was not asked yet'),
  required: doc('Nothing is charged without a country and a postal code'),
}).meta({ id: 'BillingDetails', description: 'Name, address and VAT id on invoices.' });

const toAnswer = ({ details, vatIdStatus, isNeeded }: BillingDetailsState): z.input<typeof answer> => {
  const { postalCode, vatId, ...same } = details;
  return { ...same, postal_code: postalCode, vat_id: vatId, vat_id_status: vatIdStatus, required: isNeeded };
};

function detailsOperation({ deps, findDetails }: BillingModule): ApiOperation {
  return defineOperation({
    method: 'get',
    path,
    id: 'billingDetails',
    summary: 'Read the billing details',
    description: 'Name, address and VAT id on the invoices of a member.',
    params,
    answer: details,
    problems: { 404: 'No such customer' },
    async handle({ req, params: { stripeCustomerId: customerId } }) {
      const { user } = await findBillingOwner(req, deps.database, { customerId });
      return toAnswer(await findDetails(user.id));
    },
  });
}

const toTexts = ({ postal_code, vat_id, ...same }: z.infer<typeof body>) => ({
  name: same.name ?? '',
  company: same.company ?? '',
  line1: same.line1 ?? '',
  line2: same.line2 ?? '',
  postalCode: postal_code ?? '',
  city: same.city ?? '',
  state: same.state ?? '',
  country: same.country ?? '',
  vatId: vat_id ?? '',
});

function saveDetailsOperation(billing: BillingModule): ApiOperation {
  const { deps, findDetails } = billing;
  return defineOperation({
    method: 'put',
    path,
    id: 'saveBillingDetails',
    summary: 'Replace the billing details',
    description: 'A field that the body omits is removed.',
    params,
    body: withDocs(body, detailsDocs),
    answer: details,
    problems: { 404: 'No such customer' },
    async handle({ req, params: { stripeCustomerId: customerId }, body: entered }) {
      const { user } = await findBillingOwner(req, deps.database, { customerId });
      await callAction(saveDetailsAction, { deps: { membership: billing }, caller: { user }, texts: toTexts(entered) });
      return toAnswer(await findDetails(user.id));
    },
  });
}

/** The calls on the data of invoices. */
export const detailsOperations = (billing: BillingModule): ApiOperation[] => [
  detailsOperation(billing),
  saveDetailsOperation(billing),
];
