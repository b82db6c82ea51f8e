/**
 * A stand-in for Stripe: its HTTP API for the real library, its script for browsers, its webhooks, and an adjustable
 * clock.
 */
export type { Exchange } from './api.ts';
export type { Act, Overview } from './control.ts';
export type { Engine, StripeEvent } from './engine/index.ts';
export { createStripeStandIn, type StripeStandIn, type StripeStandInOptions } from './stand-in.ts';
export type { Webhooks } from './webhooks.ts';
