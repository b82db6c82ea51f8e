/**
 * The sandbox's stand-in for Stripe.js (docs.stripe.com/js): the card's three elements, the payment element, and the
 * confirmation of intents, with Stripe's shapes and codes. It is not part of the product's pages: the stand-in's own server serves it as
 * /stripe.js, and its calls go there.
 */
import { type Answer, type Call, type CallError, createCall } from './calls.ts';
import { CardElement, type CardGroup, type ElementFault } from './card-element.ts';
import { type CardField, cardFields } from './card-rules.ts';
import { challenge } from './challenge.ts';
import { type ElementsOptions, isCardField, PaymentElement } from './payment-element.ts';
import { textsFor } from './texts.ts';

const scriptAddress = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : location.href;
const origin = new URL(scriptAddress).origin;

interface Intent {
  id: string;
  status: string;
  last_setup_error?: CallError | null;
  last_payment_error?: CallError | null;
  next_action?: { redirect_to_url?: { url: string } } | null;
}
type BillingDetails = Record<string, unknown>;
type CardSource = CardElement | { token: string };
interface ConfirmData {
  payment_method?: string | { card: CardSource; billing_details?: BillingDetails };
}
interface ConfirmOptions {
  handleActions?: boolean;
}
interface ConfirmSetupOptions {
  elements: ReturnType<typeof createElements>;
  clientSecret: string;
  confirmParams?: { return_url?: string };
}
/** The browser knows an intent by its kind and its secret. */
interface IntentRef {
  kind: Kind;
  clientSecret: string;
}
type Fault = CallError | ElementFault;

/** The kind of intent: its name in results, its path, its property of the last error. */
const kinds = {
  setup: { result: 'setupIntent', object: 'setup_intent', path: '/v1/setup_intents', error: 'last_setup_error' },
  payment: {
    result: 'paymentIntent',
    object: 'payment_intent',
    path: '/v1/payment_intents',
    error: 'last_payment_error',
  },
} as const;
type Kind = keyof typeof kinds;

const groups = new WeakMap<CardElement, CardGroup>();

const toIntentId = (clientSecret: string) => clientSecret.split('_secret_')[0] ?? '';

/** The card in an element's group, or its first fault. */
function readCard(element: CardElement): { card: Record<string, unknown> } | { error: Fault } {
  const fields = groups.get(element)?.fields;
  const digits: string[] = [];
  for (const name of cardFields) {
    const field = fields?.get(name);
    if (!field) {
      return { error: { type: 'invalid_request_error', message: `There is no ${name} element in this group.` } };
    }
    if (field.fault) return { error: field.fault };
    digits.push(field.digits);
  }
  const [number, expiry = '', cvc] = digits;
  return {
    card: { number, cvc, exp_month: Number(expiry.slice(0, 2)), exp_year: 2000 + Number(expiry.slice(2)) },
  };
}

function createElements(options: ElementsOptions) {
  const { locale } = options;
  const group: CardGroup = { locale, fields: new Map() };
  let payment: PaymentElement | undefined;
  const createPayment = () => {
    if (payment) throw new Error('Can only create one Element of type payment.');
    payment = new PaymentElement(options, group);
    return payment;
  };
  return {
    payment: () => payment,
    /** Validates the payment element; the deferred intent comes after it. */
    submit: async () => {
      const error = payment?.check();
      return error ? { error } : {};
    },
    create(type: CardField | 'payment', options = {}) {
      if (type === 'payment') return createPayment();
      if (!isCardField(type)) throw new Error(`The stand-in for Stripe.js has no element ${type}.`);
      if (group.fields.has(type)) throw new Error(`Can only create one Element of type ${type}.`);
      const element = new CardElement(type, group, options);
      group.fields.set(type, element);
      groups.set(element, group);
      return element;
    },
    getElement: (type: CardField) => group.fields.get(type) ?? null,
    update: ({ appearance }: Pick<ElementsOptions, 'appearance'>) => payment?.dress(appearance),
  };
}

async function createPaymentMethod(
  call: Call,
  source: CardSource,
  billing: BillingDetails | undefined,
): Promise<Answer<{ id: string }>> {
  let card: Record<string, unknown>;
  if (source instanceof CardElement) {
    const found = readCard(source);
    if ('error' in found) return { error: found.error as CallError };
    card = found.card;
  } else card = { token: source.token };
  return call('POST', '/v1/payment_methods', { type: 'card', card, billing_details: billing });
}

interface Confirmation {
  call: Call;
  finish(intent: IntentRef, answer: Answer<Intent>): Promise<unknown>;
}

/** Confirms by the payment element; a bank's page replaces this one. */
async function confirmSetup(
  { call, finish }: Confirmation,
  { elements, clientSecret, confirmParams = {} }: ConfirmSetupOptions,
) {
  const payment = elements.payment();
  if (!payment) throw new Error('confirmSetup needs a payment element.');
  const data = payment.data();
  // A card's number is no parameter of a confirmation.
  const newMethod = data.type === 'card' ? await call<{ id: string }>('POST', '/v1/payment_methods', data) : undefined;
  if (newMethod?.error) return { error: newMethod.error };
  const answer = await call<Intent>('POST', `${kinds.setup.path}/${toIntentId(clientSecret)}/confirm`, {
    client_secret: clientSecret,
    ...(newMethod ? { payment_method: newMethod.value.id } : { payment_method_data: data }),
    return_url: confirmParams.return_url,
    use_stripe_sdk: true,
  });
  const bankUrl = answer.value?.next_action?.redirect_to_url?.url;
  if (bankUrl === undefined) return finish({ kind: 'setup', clientSecret }, answer);
  location.assign(bankUrl);
  // As with Stripe: the promise stays open while the page is left.
  return new Promise(() => {});
}

function createStripe(publishableKey: string, options: { locale?: string } = {}) {
  if (!/^pk_/.test(publishableKey)) throw new Error('Please call Stripe() with your publishable key.');
  const call = createCall(origin, publishableKey);

  const read = ({ kind, clientSecret }: IntentRef) =>
    call<Intent>('GET', `${kinds[kind].path}/${toIntentId(clientSecret)}`, { client_secret: clientSecret });

  /** In Stripe's shape: `{ setupIntent }` or `{ error }`. */
  function toResult(kind: Kind, { value, error }: Answer<Intent>) {
    return error ? { error } : { [kinds[kind].result]: value };
  }

  /** Lets the customer authenticate if the bank asks for it, and returns the result. */
  async function finish({ kind, clientSecret }: IntentRef, answer: Answer<Intent>) {
    if (answer.value?.status !== 'requires_action') return toResult(kind, answer);
    await challenge(origin, toIntentId(clientSecret), options.locale);
    const after = await read({ kind, clientSecret });
    const fault = after.value?.status === 'requires_payment_method' ? after.value[kinds[kind].error] : undefined;
    if (!fault) return toResult(kind, after);
    // As Stripe’s own script: in the language of the page, which the server does not know.
    const message = `${fault.code}`.endsWith('_authentication_failure')
      ? textsFor(options.locale).notAuthenticated
      : fault.message;
    return { error: { ...fault, message, [kinds[kind].object]: after.value } };
  }

  async function confirm(intent: IntentRef, data: ConfirmData = {}, { handleActions }: ConfirmOptions = {}) {
    const { kind, clientSecret } = intent;
    let method = typeof data.payment_method === 'string' ? data.payment_method : undefined;
    if (typeof data.payment_method === 'object') {
      const created = await createPaymentMethod(call, data.payment_method.card, data.payment_method.billing_details);
      if (created.error) return { error: created.error };
      method = created.value.id;
    }
    if (method === undefined) {
      // A payment that already waits for the bank is not confirmed again.
      const current = await read(intent);
      if (current.error || current.value.status === 'requires_action') return finish(intent, current);
    }
    const answer = await call<Intent>('POST', `${kinds[kind].path}/${toIntentId(clientSecret)}/confirm`, {
      client_secret: clientSecret,
      payment_method: method,
      use_stripe_sdk: true,
    });
    return handleActions === false ? toResult(kind, answer) : finish(intent, answer);
  }

  return {
    elements: ({ locale = options.locale, ...more }: ElementsOptions = {}) => createElements({ locale, ...more }),
    confirmSetup: (options: ConfirmSetupOptions) => confirmSetup({ call, finish }, options),
    confirmCardSetup: (clientSecret: string, data?: ConfirmData, confirmOptions?: ConfirmOptions) =>
      confirm({ kind: 'setup', clientSecret }, data, confirmOptions),
    confirmCardPayment: (clientSecret: string, data?: ConfirmData, confirmOptions?: ConfirmOptions) =>
      confirm({ kind: 'payment', clientSecret }, data, confirmOptions),
    async handleNextAction({ clientSecret }: { clientSecret: string }) {
      const kind: Kind = clientSecret.startsWith('seti_') ? 'setup' : 'payment';
      return finish({ kind, clientSecret }, await read({ kind, clientSecret }));
    },
    retrieveSetupIntent: async (clientSecret: string) => toResult('setup', await read({ kind: 'setup', clientSecret })),
    retrievePaymentIntent: async (clientSecret: string) =>
      toResult('payment', await read({ kind: 'payment', clientSecret })),
    async createPaymentMethod(data: { type: 'card'; card: CardSource; billing_details?: BillingDetails }) {
      const { value, error } = await createPaymentMethod(call, data.card, data.billing_details);
      return error ? { error } : { paymentMethod: value };
    },
    async createToken(element: CardElement, data: Record<string, unknown> = {}) {
      const found = readCard(element);
      if ('error' in found) return found;
      const { value, error } = await call('POST', '/v1/tokens', { card: { ...found.card, ...data } });
      return error ? { error } : { token: value };
    },
  };
}

Object.assign(window, { Stripe: Object.assign(createStripe, { version: 'endive' }) });
