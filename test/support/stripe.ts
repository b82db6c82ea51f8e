import Stripe from 'stripe';
import { createStripeStandIn, type Exchange, type StripeStandIn } from '../../sandbox/stripe/index.ts';
import { clientDir } from './client-dir.ts';
import { listenOnFreePort } from './foyer.ts';
import { addStripeFaults, takeStripeFaults } from './stripe-faults.ts';
import { stripeReference, withoutStripeReference } from './stripe-reference.ts';
import { recordRequest, testAgent } from './stripe-requests.ts';

export const stripeKeys = {
  secretKey: 'sk_test_of_the_stand_in',
  publishableKey: 'pk_test_of_the_stand_in',
  webhookSecret: 'whsec_of_the_stand_in',
};

export interface TestStripe extends StripeStandIn {
  /** `http://127.0.0.1:<port>`: another site than Foyer's, like Stripe's. */
  url: string;
  /** The real library, as in the product. */
  client(config?: Stripe.StripeConfig): Stripe;
  /** The configuration of a Foyer that uses it. */
  environment(): Record<string, string>;
  /** Sends webhooks to this Foyer from now on. */
  tell(foyerUrl: string): void;
}

/** The description is for servers; browsers send an intent's secret instead of the secret key. */
function ofServers(exchange: Exchange): Exchange {
  if (exchange.as !== 'publishable') return exchange;
  const { client_secret, ...params } = exchange.params;
  return { ...exchange, params };
}

/** The answer of a planned `fault`, by its text. */
const isPlanned = (answer: unknown) => JSON.stringify(answer).includes('An unknown error occurred');

// A test during which there were some fails (setup.ts).
export { takeStripeFaults };

/**
 * The sandbox's stand-in for Stripe, in this process on a free port.
 * @param options `checked`: every request and answer must match the description of Stripe's API, or the test fails (the
 * default); `now`: its clock; `draftsRenewals`: the invoice of a renewal stays a draft for an hour;
 * `retryAfterDays`: when a failed renewal is tried again, by default as Smart Retries do;
 * `requestsPerSecond`: further ones are answered 429
 */
export async function startStripe({
  now = Date.now,
  checked = true,
  ...more
}: {
  now?: () => number;
  checked?: boolean;
  draftsRenewals?: boolean;
  retryAfterDays?: readonly number[];
  requestsPerSecond?: number;
  file?: string;
  log?: (line: string) => void;
} = {}): Promise<TestStripe> {
  const { server, port } = await listenOnFreePort();
  const url = `http://127.0.0.1:${port}`;
  const { secretKey, publishableKey, webhookSecret } = stripeKeys;
  const standIn = createStripeStandIn({ secretKey, publishableKey, now, origin: url, clientDir: clientDir(), ...more });
  server.on('request', standIn.listener);
  standIn.observe(recordRequest);
  standIn.observe(({ method, path, status, answer }) => {
    // The product must not send unsupported requests.
    if (status >= 500 && !isPlanned(answer)) addStripeFaults(`${method} ${path}: ${JSON.stringify(answer)}`);
  });
  if (checked && !withoutStripeReference()) {
    const reference = stripeReference();
    standIn.observe((exchange) => {
      addStripeFaults(...reference.requestFaults(ofServers(exchange)), ...reference.answerFaults(exchange));
    });
  }
  return {
    ...standIn,
    url,
    client: (config) =>
      new Stripe(secretKey, {
        host: '127.0.0.1',
        port,
        protocol: 'http',
        maxNetworkRetries: 0,
        telemetry: false,
        appInfo: { name: testAgent },
        ...config,
      }),
    environment: () => ({
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_PUBLISHABLE_KEY: publishableKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_URL: url,
      STRIPE_JS_URL: `${url}/stripe.js`,
    }),
    tell(foyerUrl) {
      standIn.webhooks.target = { url: `${foyerUrl}/webhooks/stripe`, secret: webhookSecret };
    },
    async close() {
      await standIn.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
