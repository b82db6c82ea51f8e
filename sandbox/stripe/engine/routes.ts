import { migrateSubscription } from './billing-mode.ts';
import * as catalogue from './catalogue.ts';
import * as codes from './codes.ts';
import * as collect from './collect.ts';
import * as creditNotes from './credit-notes.ts';
import * as customers from './customers.ts';
import { listDisputes } from './disputes.ts';
import { listEvents } from './events.ts';
import * as intents from './intents.ts';
import * as invoices from './invoices.ts';
import type { Kind } from './kinds.ts';
import { type Params, paging, Reader } from './params.ts';
import * as methods from './payment-methods.ts';
import { createPreview } from './preview.ts';
import * as refunds from './refunds.ts';
import * as schedules from './schedules.ts';
import type { State } from './state.ts';
import { createSubscription } from './subscription-create.ts';
import * as life from './subscription-lifecycle.ts';
import { updateSubscription } from './subscription-update.ts';
import * as tax from './tax.ts';
import * as taxIds from './tax-ids.ts';
import type { EngineRequest, KeyKind } from './types.ts';

type Method = EngineRequest['method'];

interface RouteRequest {
  params: Params;
  /** The id in the path; '' for a path without one. */
  id: string;
  /** The second one. */
  innerId: string;
  as: KeyKind;
}
type Handler = (state: State, request: RouteRequest) => unknown;

const retrieve =
  (kind: Kind): Handler =>
  (state, { params, id }) => {
    new Reader(params, []);
    return state.get(kind, id);
  };

/** Every call of the engine. `:` is an id; `*` marks calls that a publishable key may make. */
const handlers: Record<string, Handler> = {
  'POST customers': (state, { params }) => customers.createCustomer(state, params),
  'GET customers': (state, { params }) => customers.listCustomers(state, params),
  'GET customers/search': (state, { params }) => customers.searchCustomers(state, params),
  'GET customers/:': (state, { id, params }) => customers.retrieveCustomer(state, id, params),
  'POST customers/:': (state, { id, params }) => customers.updateCustomer(state, id, params),
  'DELETE customers/:': (state, { id, params }) =>
    customers.deleteCustomer(state, { id, params }, (customer) => life.cancelAll(state, customer)),
  'GET customers/:/payment_methods': (state, { id, params }) => {
    state.get('customer', id);
    return methods.listPaymentMethods(state, { ...params, customer: id }, `/v1/customers/${id}/payment_methods`);
  },

  'POST customers/:/tax_ids': (state, { id, params }) => taxIds.createTaxId(state, id, params),
  'GET customers/:/tax_ids': (state, { id, params }) => taxIds.listTaxIds(state, id, params),
  'GET customers/:/tax_ids/:': (state, { id: customer, innerId: id, params }) =>
    taxIds.retrieveTaxId(state, { customer, id }, params),
  'DELETE customers/:/tax_ids/:': (state, { id: customer, innerId: id, params }) =>
    taxIds.deleteTaxId(state, { customer, id }, params),

  'POST products': (state, { params }) => catalogue.createProduct(state, params),
  'GET products': (state, { params }) => catalogue.listProducts(state, params),
  'GET products/:': retrieve('product'),
  'POST products/:': (state, { id, params }) => catalogue.updateProduct(state, id, params),
  'DELETE products/:': (state, { id, params }) => catalogue.deleteProduct(state, id, params),
  'POST prices': (state, { params }) => catalogue.createPrice(state, params),
  'GET prices': (state, { params }) => catalogue.listPrices(state, params),
  'GET prices/:': retrieve('price'),
  'POST prices/:': (state, { id, params }) => catalogue.updatePrice(state, id, params),

  '*POST payment_methods': (state, { params }) => methods.makePaymentMethod(state, params),
  'GET payment_methods': (state, { params }) => methods.listPaymentMethods(state, params, '/v1/payment_methods'),
  'GET payment_methods/:': retrieve('payment_method'),
  'POST payment_methods/:': (state, { id, params }) => methods.updatePaymentMethod(state, id, params),
  'POST payment_methods/:/attach': (state, { id, params }) =>
    methods.attach(state, id, new Reader(params, ['customer']).need('customer')),
  'POST payment_methods/:/detach': (state, { id, params }) => {
    new Reader(params, []);
    return methods.detach(state, id);
  },
  '*POST tokens': (state, { params }) => methods.createToken(state, params),
  'GET tokens/:': retrieve('token'),

  'POST coupons': (state, { params }) => codes.createCoupon(state, params),
  'GET coupons': (state, { params }) => codes.listCoupons(state, params),
  'GET coupons/:': retrieve('coupon'),
  'POST coupons/:': (state, { id, params }) => codes.updateCoupon(state, id, params),
  'DELETE coupons/:': (state, { id, params }) => codes.deleteCoupon(state, id, params),
  'POST promotion_codes': (state, { params }) => codes.createPromotionCode(state, params),
  'GET promotion_codes': (state, { params }) => codes.listPromotionCodes(state, params),
  'GET promotion_codes/:': retrieve('promotion_code'),
  'POST promotion_codes/:': (state, { id, params }) => codes.updatePromotionCode(state, id, params),

  'POST subscriptions': (state, { params }) => createSubscription(state, params),
  'GET subscriptions': (state, { params }) => life.listSubscriptions(state, params),
  'GET subscriptions/:': retrieve('subscription'),
  'POST subscriptions/:': (state, { id, params }) => updateSubscription(state, id, params),
  'DELETE subscriptions/:': (state, { id, params }) => life.cancelSubscription(state, id, params),
  'POST subscriptions/:/migrate': (state, { id, params }) => migrateSubscription(state, id, params),
  'POST subscriptions/:/pause': (state, { id, params }) => life.pauseSubscription(state, id, params),
  'POST subscriptions/:/resume': (state, { id, params }) => life.resumeSubscription(state, id, params),

  'POST subscription_schedules': (state, { params }) => schedules.createSchedule(state, params),
  'GET subscription_schedules': (state, { params }) => schedules.listSchedules(state, params),
  'GET subscription_schedules/:': retrieve('subscription_schedule'),
  'POST subscription_schedules/:': (state, { id, params }) => schedules.updateSchedule(state, id, params),
  'POST subscription_schedules/:/release': (state, { id, params }) => schedules.releaseSchedule(state, id, params),
  'POST subscription_schedules/:/cancel': (state, { id, params }) => schedules.cancelSchedule(state, id, params),

  'POST invoices/create_preview': (state, { params }) => createPreview(state, params),
  'GET invoices': (state, { params }) => invoices.listInvoices(state, params),
  'GET invoices/:': retrieve('invoice'),
  'POST invoices/:': (state, { id, params }) => invoices.updateInvoice(state, id, params),
  'GET invoices/:/lines': (state, { id, params }) => {
    new Reader(params, paging);
    return state.get('invoice', id).lines;
  },
  'POST invoices/:/finalize': (state, { id, params }) => invoices.finalizeDraft(state, id, params),
  'POST invoices/:/pay': (state, { id, params }) => collect.payInvoice(state, id, params),
  'POST invoices/:/void': (state, { id, params }) => {
    new Reader(params, []);
    return collect.voidInvoice(state, id);
  },
  'GET invoice_payments': (state, { params }) => invoices.listInvoicePayments(state, params),
  'GET invoice_payments/:': retrieve('invoice_payment'),

  'POST setup_intents': (state, { params }) => intents.createSetupIntent(state, params),
  'GET setup_intents': (state, { params }) => intents.listIntents(state, 'setup_intent', params),
  '*GET setup_intents/:': (state, request) => intents.retrieveIntent(state, 'setup_intent', request),
  '*POST setup_intents/:/confirm': (state, request) => intents.confirmSetupIntent(state, request),
  'POST setup_intents/:/cancel': (state, { id, params }) => intents.cancelSetupIntent(state, id, params),
  'GET payment_intents': (state, { params }) => intents.listIntents(state, 'payment_intent', params),
  '*GET payment_intents/:': (state, request) => intents.retrieveIntent(state, 'payment_intent', request),
  '*POST payment_intents/:/confirm': (state, request) => intents.confirmPaymentIntent(state, request),

  'POST refunds': (state, { params }) => refunds.createRefund(state, params),
  'GET refunds': (state, { params }) => refunds.listRefunds(state, params),
  'GET refunds/:': retrieve('refund'),
  'GET disputes': (state, { params }) => listDisputes(state, params),
  'GET disputes/:': retrieve('dispute'),
  'POST credit_notes': (state, { params }) => creditNotes.createCreditNote(state, params),
  'GET credit_notes': (state, { params }) => creditNotes.listCreditNotes(state, params),
  'GET credit_notes/:': retrieve('credit_note'),
  'POST credit_notes/:/void': (state, { id, params }) => creditNotes.voidCreditNote(state, id, params),

  'POST tax_rates': (state, { params }) => tax.createTaxRate(state, params),
  'GET tax_rates/:': (state, { id, params }) => tax.retrieveTaxRate(state, id, params),
  'GET tax/settings': (_state, { params }) => {
    new Reader(params, []);
    return tax.taxSettings;
  },

  'GET events': (state, { params }) => listEvents(state, params),
  'GET events/:': retrieve('event'),
};

const table = Object.entries(handlers).map(([pattern, handler]) => {
  const publishable = pattern.startsWith('*');
  const [method, path = ''] = pattern.slice(publishable ? 1 : 0).split(' ');
  return { method, publishable, handler, path: new RegExp(`^/v1/${path.replaceAll(':', '([^/]+)')}$`) };
});

interface Route {
  /** Whether a publishable key may make this call. */
  publishable: boolean;
  answer(state: State, params: Params, as: KeyKind): unknown;
}

export function findRoute(method: Method, path: string): Route | undefined {
  for (const route of table) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (!match) continue;
    const [id, innerId] = [decodeURIComponent(match[1] ?? ''), decodeURIComponent(match[2] ?? '')];
    return {
      publishable: route.publishable,
      answer: (state, params, as) => route.handler(state, { params, id, innerId, as }),
    };
  }
  return undefined;
}
