/**
 * Stand-ins for every outside service, for development and tests: the marketplace's own apps and a demo client app on
 * another site. The product does not know it; production cannot switch it on (`security.md`, rule 16).
 */
export { createDemoApp } from './demo-app.ts';
export { onlyFromThisMachine } from './guard.ts';
export { sandboxRoutes, standInLinks } from './routes.ts';
export { demoClientId, demoMember, seedSandbox } from './seed.ts';
export { isStamped, stampSandbox } from './stamp.ts';
