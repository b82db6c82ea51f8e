/** A stand-in for Stripe: its HTTP API to the real library, its script for browsers, its webhooks, and a clock to move. */
export type { Exchange } from './api.ts';
export type { Act, Overview } from './control.ts';
export type { Engine, StripeEvent } from './engine/index.ts';
export { createStripeStandIn, type StripeStandIn, type StripeStandInOptions } from './stand-in.ts';
export type { Webhooks } from './webhooks.ts';
