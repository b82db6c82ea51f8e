/**
 * Stand-ins for every outside service, for development and tests: the marketplace's own apps, a demo client app on
 * another site, a mailbox in place of mail service and telephone, a stand-in for Stripe, and for the providers by which
 * members sign in. None of the product's rooms knows it, only what wires
 * them and the command line; production cannot switch it on (`security.md`, rule 16).
 */
export { billingAddress, type StandInAddress } from './billing-routes.ts';
export { createDemoApp } from './demo-app.ts';
export { mailboxAddress } from './mail-routes.ts';
export { createSandboxMailbox, type KeptMessage, type SandboxMailbox } from './mailbox.ts';
export { loadProviderStandIns, openStripeStandIn } from './open-stand-ins.ts';
export type { ProviderStandIns } from './providers/index.ts';
export { providersPath } from './providers/path.ts';
export { sandboxRoutes, standInLinks } from './routes.ts';
export { demoClientId, demoMember, seedSandbox } from './seed.ts';
export type { StripeStandIn, StripeStandInOptions } from './stripe/index.ts';
export { createStandInClock, type StandInClock } from './stripe-clock.ts';
export { seedPromotionCodes } from './stripe-seed.ts';
