import { join } from 'node:path';
import express from 'express';
import { loadPlans } from '../config/plans.ts';
import { createCatalogue, createStripe, syncPlans } from '../server/billing/index.ts';
import type { RunningCompanion } from '../server/companion.ts';
import type { Deps } from '../server/deps.ts';
import { listen } from '../server/process/index.ts';
import { sandboxOrigin } from './addresses.ts';
import { createDemoApp } from './demo-app.ts';
import { openProviders } from './open-providers.ts';
import { createStripeStandIn, type StripeStandIn } from './stripe/index.ts';
import { seedPromotionCodes } from './stripe-seed.ts';

/** The stand-in for Stripe, unless Foyer uses Stripe itself. */
function openStandIn(deps: Deps): StripeStandIn | undefined {
  const { config, clientDir, now, log } = deps;
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_PUBLISHABLE_KEY: publishableKey } = config;
  if (secretKey === undefined || publishableKey === undefined || config.STRIPE_API_URL !== sandboxOrigin(config)) {
    return undefined;
  }
  const secret = config.STRIPE_WEBHOOK_SECRET;
  return createStripeStandIn({
    secretKey,
    publishableKey,
    ...(secret !== undefined && { webhook: { url: `${config.PUBLIC_URL}/webhooks/stripe`, secret } }),
    now,
    draftsRenewals: true,
    requestsPerSecond: 100,
    origin: sandboxOrigin(config),
    file: join(config.DATA_DIR, 'sandbox-stripe.json'),
    clientDir,
    log: (line) => log.warn(line),
  });
}

/** The initial data for purchases: the catalogue's plans, as from `foyer plans sync`, and promotion codes. */
async function seed({ config, log }: Deps, standIn: StripeStandIn): Promise<void> {
  seedPromotionCodes(standIn);
  const client = createStripe({ secretKey: config.STRIPE_SECRET_KEY ?? '', apiUrl: config.STRIPE_API_URL });
  await syncPlans(client, createCatalogue(loadPlans(config.PLANS_FILE))).catch((error: unknown) =>
    log.error({ err: error }, 'the plans are not at the stand-in for Stripe'),
  );
}

/** Serves the demo client app and the stand-ins for Stripe and for providers. */
export async function serveSandbox(deps: Deps): Promise<RunningCompanion> {
  const { config } = deps;
  const standIn = openStandIn(deps);
  const providers = await openProviders(deps);
  const app = express().disable('x-powered-by');
  // Before Stripe's, which answers every path under /v1.
  if (providers) app.use(providers.listener);
  if (standIn) app.use(standIn.listener);
  app.use(
    createDemoApp({
      ...deps,
      issuer: config.PUBLIC_URL,
      origin: sandboxOrigin(config),
      brandName: config.BRAND_NAME,
    }),
  );
  // Foyer does not accept them yet.
  if (standIn) standIn.webhooks.mode = 'held';
  const server = await listen(app, { port: config.SANDBOX_PORT, host: '127.0.0.1' });
  const seeded = standIn === undefined ? Promise.resolve() : seed(deps, standIn);
  return {
    async foyerServes() {
      await seeded;
      if (standIn) standIn.webhooks.mode = 'prompt';
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await standIn?.close();
    },
  };
}
