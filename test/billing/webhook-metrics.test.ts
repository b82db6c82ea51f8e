import express, { type ErrorRequestHandler } from 'express';
import Stripe from 'stripe';
import { createWebhooks, webhookPath } from '../../server/billing/index.ts';
import { createMetrics } from '../../server/metrics/index.ts';
import { sampleOf } from '../metrics/read.ts';
import { listenOnFreePort, startFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { startStripe, stripeKeys } from '../support/stripe.ts';

const { webhookSecret } = stripeKeys;
const { webhooks: signer } = new Stripe(stripeKeys.secretKey);
const signed = (payload: string, more: { secret?: string; timestamp?: number } = {}) =>
  signer.generateTestHeaderString({ payload, secret: webhookSecret, ...more });
it('Events are counted by known type and by outcome', async () => {
  const metrics = await createMetrics(1);
  const stripe = await startStripe();
  const foyer = await startFoyer(anyBackend, stripe.environment());
  const app = express();
  createWebhooks({ ...foyer.app.membership.deps, metrics }).routes(app, webhookSecret);
  // A refusal is an HTTP error, which Foyer answers elsewhere.
  const fail: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(400).end();
  app.use(fail);
  const { server, port } = await listenOnFreePort(app);
  try {
    const send = async (payload: string, signature: string) =>
      (
        await sendRequest(`http://127.0.0.1:${port}${webhookPath}`, {
          method: 'POST',
          body: payload,
          headers: { 'stripe-signature': signature },
        })
      ).status;
    const event = (id: string, type: string) =>
      JSON.stringify({
        id,
        object: 'event',
        type,
        data: { object: { customer: 'cus_unknown', payment_intent: 'pi_unknown' } },
      });
    const [known, made] = [event('evt_1', 'invoice.paid'), event('evt_2', 'made.up')];
    const refund = event('evt_3', 'charge.refunded');
    const answers = [];
    for (const one of [known, known, made, refund, refund]) answers.push(await send(one, signed(one)));
    expect([...answers, await send(known, 'forged')]).toEqual([200, 200, 200, 200, 200, 400]);
    const text = (await metrics.local?.text()) ?? '';
    const counted = (type: string, outcome: string) => sampleOf(text, 'foyer_stripe_webhooks_total', { type, outcome });
    expect(counted('invoice.paid', 'unknown-customer')).toBe(1);
    expect(counted('invoice.paid', 'twice')).toBe(1);
    expect(counted('charge.refunded', 'unknown-payment')).toBe(1);
    expect(counted('charge.refunded', 'twice')).toBe(1);
    expect(counted('other', 'unknown-type')).toBe(1);
    expect(counted('other', 'refused')).toBe(1);
    expect(text).not.toContain('made.up');
  } finally {
    server.closeAllConnections();
    server.close();
    await foyer.close();
    await stripe.close();
  }
});
