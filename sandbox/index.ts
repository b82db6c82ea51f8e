/**
 * Stand-ins for every outside service, for development and tests: the marketplace's own apps, a demo client app on
 * another site, a mailbox in place of mail service and telephone, a stand-in for Stripe, and for the providers by which
 * members sign in. The product does not import it: `main.ts` starts the server with it. Production cannot switch it on
 * (`security.md`, rule 16).
 */
export { sandbox } from './companion.ts';
export { createDemoApp } from './demo-app.ts';
export { createSandboxExtensions } from './extensions.ts';
export { createSandboxMailbox, type KeptMessage, type SandboxMailbox } from './mailbox.ts';
export { sandboxAccess } from './page-access.ts';
export { demoClientId, demoMember, seedSandbox } from './seed.ts';
