/**
 * Stand-ins for every outside service, for development and tests: the marketplace's own apps, a demo client app on
 * another site, a mailbox instead of a mail service and phone, a stand-in for Stripe, and for identity providers. The
 * product does not import it: `main.ts` starts the server with it. Production cannot enable it (`security.md`, rule 16).
 */
export { sandbox } from './companion.ts';
export { createDemoApp } from './demo-app.ts';
export { createSandboxExtensions } from './extensions.ts';
export { createSandboxMailbox, type SandboxMailbox, type StoredMessage } from './mailbox.ts';
export { sandboxAccess } from './page-access.ts';
export { createSandboxRefusals } from './refusals.ts';
export { demoClientId, demoMember, seedSandbox } from './seed.ts';
