import { addressFields, toAddress } from './address.ts';
import { checkAccount, fingerprint, testCard } from './cards.ts';
import { newId } from './new-id.ts';
import type { Metadata, PaymentMethod, SetupAttempt, SetupIntent } from './objects.ts';
import type { Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid, unknownToStandIn } from './types.ts';

/** Payment methods besides cards. */
const otherMethods = ['link', 'sepa_debit', 'ideal', 'bancontact'] as const;
type OtherMethod = (typeof otherMethods)[number];

export const isOtherMethod = (type: string): type is OtherMethod => otherMethods.some((one) => one === type);

/** The bank's page comes first, and a SEPA debit stays. */
export const isRedirect = (type: string): type is 'ideal' | 'bancontact' => type === 'ideal' || type === 'bancontact';

/** The allowed types of a call; by default, cards. */
export function readMethodTypes(reader: Reader): string[] {
  const types = reader.texts('allowed_payment_method_types') ?? ['card'];
  if (types.some((type) => type !== 'card' && !isOtherMethod(type))) {
    throw unknownToStandIn('these types of payment methods', 'allowed_payment_method_types');
  }
  return types;
}

/** @param url the address after the bank's page */
export function checkSetupMethod({ payment_method_types: types }: SetupIntent, { type }: PaymentMethod, url?: string) {
  if (!types.includes(type)) {
    throw invalid(
      `The PaymentMethod provided (${type}) is not allowed for this SetupIntent. Please attach a PaymentMethod of one of the following types: ${types.join(', ')}`,
      { param: 'payment_method' },
    );
  }
  if (isRedirect(type) && url === undefined) {
    throw invalid('You must provide a `return_url` when confirming with a redirect.', { param: 'return_url' });
  }
}

/** The account behind each method that the stand-in's bank confirms. */
const accountOfRedirects = 'DE89370400440532013000';
const linkCard = '4242424242424242';

export function billingDetails(reader: Reader | undefined): PaymentMethod['billing_details'] {
  const details = reader?.object('billing_details', ['address', 'email', 'name', 'phone']);
  const none = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null };
  return {
    address: toAddress(details?.object('address', addressFields)) ?? none,
    email: details?.text('email') ?? null,
    name: details?.text('name') ?? null,
    phone: details?.text('phone') ?? null,
    tax_id: null,
  };
}

interface MethodDraft {
  type: OtherMethod;
  billing: PaymentMethod['billing_details'];
  metadata?: Metadata;
}

/** @param behaviour the number of the card or account that stands behind it */
function putMethod(
  state: State,
  { type, billing, metadata = {} }: MethodDraft,
  { behaviour, details }: { behaviour: string; details: Partial<PaymentMethod> },
): PaymentMethod {
  const created: PaymentMethod = state.put({
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: billing,
    created: state.now(),
    customer: null,
    customer_account: null,
    livemode: false,
    metadata,
    type,
    ...details,
  });
  state.put({ id: `hidden_${created.id}`, object: 'hidden.card', number: behaviour, authenticated: true });
  return created;
}

const toDebit = (iban: string, attempt: string | null): NonNullable<PaymentMethod['sepa_debit']> => ({
  bank_code: iban.slice(4, 12),
  branch_code: '',
  country: testCard(iban).country ?? null,
  fingerprint: fingerprint(iban),
  generated_from: attempt === null ? null : { charge: null, setup_attempt: attempt },
  last4: iban.slice(-4),
});

export function makeOtherMethod(state: State, type: OtherMethod, reader: Reader): PaymentMethod {
  const draft = { type, billing: billingDetails(reader), metadata: reader.metadata() };
  if (type === 'sepa_debit') {
    const iban = (reader.object('sepa_debit', ['iban'])?.need('iban') ?? '').replaceAll(/\s/g, '').toUpperCase();
    checkAccount(iban);
    return putMethod(state, draft, { behaviour: iban, details: { sepa_debit: toDebit(iban, null) } });
  }
  if (type === 'link') {
    const details = { link: { email: draft.billing.email } };
    return putMethod(state, draft, { behaviour: linkCard, details });
  }
  const details = type === 'ideal' ? { ideal: { bank: null, bic: null } } : { bancontact: {} };
  return putMethod(state, draft, { behaviour: accountOfRedirects, details });
}

/** The debit that an attempt by iDEAL or Bancontact leaves (`generated_sepa_debit`). */
function putGenerated(state: State, attemptId: string, method: PaymentMethod): PaymentMethod {
  const draft = { type: 'sepa_debit', billing: method.billing_details } as const;
  const details = { sepa_debit: toDebit(accountOfRedirects, attemptId) };
  return putMethod(state, draft, { behaviour: accountOfRedirects, details });
}

/** Writes the attempt that a bank's page has confirmed. @returns the debit that is attached to the customer */
export function recordRedirect(state: State, intent: SetupIntent, method: PaymentMethod): PaymentMethod {
  const id = newId('setatt');
  const debit = putGenerated(state, id, method);
  const generated = {
    bic: 'ABNANL2A',
    generated_sepa_debit: debit.id,
    generated_sepa_debit_mandate: null,
    iban_last4: accountOfRedirects.slice(-4),
    verified_name: method.billing_details.name,
  };
  const attempt: SetupAttempt = state.put({
    id,
    object: 'setup_attempt',
    application: null,
    created: state.now(),
    customer: intent.customer,
    customer_account: null,
    flow_directions: null,
    livemode: false,
    on_behalf_of: null,
    payment_method: method.id,
    payment_method_details:
      method.type === 'ideal'
        ? { type: 'ideal', ideal: { ...generated, bank: 'abn_amro', bic: 'ABNANL2A' } }
        : {
            type: 'bancontact',
            bancontact: { ...generated, bank_code: 'VAPE', bank_name: 'VAN DE PUT & CO', preferred_language: null },
          },
    setup_error: null,
    setup_intent: intent.id,
    status: 'succeeded',
    usage: 'off_session',
  });
  intent.latest_attempt = attempt.id;
  return debit;
}
