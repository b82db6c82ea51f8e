import type Stripe from 'stripe';
import { cardData, engineKit, visa } from './stripe-engine-kit.ts';

describe('the stand-in’s engine: customers, catalogue, cards', () => {
  const kit = engineKit();
  afterEach(() => expect(kit.faults).toEqual([]));
  type Listed<T> = { data: T[] };

  it('The engine finds prices by lookup key, which is transferred only on request', () => {
    const first = kit.price(9_900, 'month', { lookup_key: 'm-99' });
    const again = { lookup_key: 'm-99', currency: 'usd', unit_amount: 9_900, product_data: { name: 'P' } };
    expect(kit.refused(() => kit.post('/v1/prices', again)).param).toBe('lookup_key');
    const second = kit.post<Stripe.Price>('/v1/prices', { ...again, transfer_lookup_key: true });
    const found = kit.get<Listed<Stripe.Price>>('/v1/prices', { lookup_keys: ['m-99'], active: true });
    expect(found.data.map(({ id }) => id)).toEqual([second.id]);
    expect(kit.get<Stripe.Price>(`/v1/prices/${first}`).lookup_key).toBeNull();
    kit.post(`/v1/prices/${second.id}`, { active: false });
    expect(kit.refused(() => kit.subscribe(kit.customer(visa), second.id)).param).toBe('items[0][price]');
  });

  it('The engine merges metadata and reports the previous values in the event', () => {
    const { id } = kit.post<Stripe.Customer>('/v1/customers', { email: 'a@example.com', metadata: { a: '1', b: '2' } });
    kit.post(`/v1/customers/${id}`, { metadata: { a: '', c: '3' }, name: 'Vera' });
    expect(kit.customerNow(id).metadata).toEqual({ b: '2', c: '3' });
    expect(kit.events.at(-1)).toMatchObject({
      type: 'customer.updated',
      data: { previous_attributes: { name: null, metadata: { a: '1', c: null } } },
    });
    const count = kit.events.length;
    kit.post(`/v1/customers/${id}`, { name: 'Vera' }); // nothing has changed, so nothing is told
    expect(kit.events).toHaveLength(count);
    expect(kit.get<Listed<Stripe.Customer>>('/v1/customers', { email: 'a@example.com' }).data).toMatchObject([{ id }]);
  });

  it('The engine turns a token into a card once and recognizes the same number again', () => {
    const { card } = cardData(visa);
    const token = kit.call<Stripe.Token>('POST', '/v1/tokens', { card }, 'publishable');
    const use = () =>
      kit.post<Stripe.PaymentMethod>('/v1/payment_methods', { type: 'card', card: { token: token.id } });
    const made = use();
    expect(made.card).toMatchObject({ brand: 'visa', last4: '4242', exp_year: 2034 });
    expect(kit.refused(use).code).toBe('token_already_used');
    const customer = kit.customer();
    const named = kit.post<Stripe.PaymentMethod>('/v1/payment_methods/pm_card_visa/attach', { customer });
    expect(named.card?.fingerprint).toBe(made.card?.fingerprint);
    expect(kit.post<Stripe.PaymentMethod>(`/v1/payment_methods/${named.id}/detach`).customer).toBeNull();
    const declined = () => kit.post('/v1/payment_methods/pm_card_chargeDeclined/attach', { customer });
    expect(kit.refused(declined)).toMatchObject({ status: 402, code: 'card_declined' });
  });

  it('The engine gives a browser only its own calls, with the secret of the intent', () => {
    const intent = kit.post<Stripe.SetupIntent>('/v1/setup_intents', { customer: kit.customer() });
    const browser = (client_secret?: string) => () =>
      kit.engine.call({
        method: 'GET',
        path: `/v1/setup_intents/${intent.id}`,
        params: { client_secret },
        as: 'publishable',
      });
    expect(kit.refused(browser()).status).toBe(404);
    expect(kit.refused(browser(`${intent.client_secret}x`)).status).toBe(404);
    expect(browser(intent.client_secret ?? '')()).toMatchObject({ id: intent.id });
    expect(kit.refused(() => kit.engine.call({ method: 'GET', path: '/v1/customers', as: 'publishable' })).code).toBe(
      'secret_key_required',
    );
  });

  it('The engine refuses another customer’s card', () => {
    const [mine, other] = [kit.customer(visa), kit.customer(visa)];
    const theirs = kit.customerNow(other).invoice_settings.default_payment_method;
    const take = () => kit.post(`/v1/customers/${mine}`, { invoice_settings: { default_payment_method: theirs } });
    expect(kit.refused(take).code).toBe('resource_missing');
    expect(kit.refused(() => kit.post(`/v1/payment_methods/${theirs}/attach`, { customer: mine })).status).toBe(400);
  });

  it('The engine finds the invoice of a payment', () => {
    const invoice = kit.invoice(kit.subscribe(kit.customer(visa), kit.price(900)));
    const payment_intent = String(invoice.payments?.data[0]?.payment.payment_intent);
    const payment = { type: 'payment_intent', payment_intent };
    expect(kit.get('/v1/invoice_payments', { payment })).toMatchObject({
      data: [{ invoice: invoice.id, status: 'paid', amount_paid: 900 }],
    });
  });

  it('The engine refuses unknown paths and parameters', () => {
    const customer = kit.customer();
    const unknown = (path: string, params: Record<string, unknown>) =>
      kit.refused(() => kit.engine.call({ method: 'POST', path, params }));
    expect(unknown('/v1/quotes', { customer })).toMatchObject({ status: 501, type: 'api_error' });
    expect(unknown('/v1/customers', { tax_id_data: [] })).toMatchObject({ status: 501, param: 'tax_id_data' });
    expect(unknown('/v1/setup_intents', { customer, allowed_payment_method_types: ['klarna'] }).status).toBe(501);
    expect(unknown('/v1/invoices/create_preview', { customer, issuer: { type: 'self' } }).status).toBe(501);
  });
});
