import { join } from 'node:path';
import express from 'express';
import type { Deps } from '../deps.ts';
import { createDemoApp, createStripeStandIn } from '../sandbox/index.ts';
import { listen } from './listen.ts';

/** Another site than Foyer's own, which is on localhost. */
export const sandboxOrigin = ({ config }: Deps): string => `http://127.0.0.1:${config.SANDBOX_PORT}`;

/** The stand-in for Stripe, unless Foyer asks Stripe itself. */
function openStandIn(deps: Deps) {
  const { config, clientDir, now, log } = deps;
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_PUBLISHABLE_KEY: publishableKey } = config;
  if (secretKey === undefined || publishableKey === undefined || config.STRIPE_API_URL !== sandboxOrigin(deps)) {
    return undefined;
  }
  const secret = config.STRIPE_WEBHOOK_SECRET;
  return createStripeStandIn({
    secretKey,
    publishableKey,
    ...(secret !== undefined && { webhook: { url: `${config.PUBLIC_URL}/webhooks/stripe`, secret } }),
    now,
    origin: sandboxOrigin(deps),
    file: join(config.DATA_DIR, 'sandbox-stripe.json'),
    clientDir,
    log: (line) => log.warn(line),
  });
}

/** Serves the demo client app and the stand-in for Stripe, when the sandbox is on. */
export async function serveSandbox(deps: Deps): Promise<{ close(): Promise<void> } | undefined> {
  const { config } = deps;
  if (!config.SANDBOX) return undefined;
  const standIn = openStandIn(deps);
  const app = express().disable('x-powered-by');
  if (standIn) app.use(standIn.listener);
  app.use(
    createDemoApp({
      ...deps,
      issuer: config.PUBLIC_URL,
      origin: sandboxOrigin(deps),
      brandName: config.BRAND_NAME,
    }),
  );
  const server = await listen(app, config.SANDBOX_PORT, '127.0.0.1');
  return {
    async close() {
      server.close();
      server.closeAllConnections();
      await standIn?.close();
    },
  };
}
