/**
 * The module of the account pages (the specification's section 2, Security settings): name, address, number, password,
 * second factors, passkeys, devices, membership, data, and deletion.
 * Owns the pages and forms under /settings, and the guard that demands a recent authentication for changes of
 * credentials. Does not own the rules behind them (users/, password/, mfa/, passkeys/, contact/, sessions/, membership/
 * and deletion/), nor the forms for cards (checkout/).
 */

export { settingsOperations } from './account-operations.ts';
export type { AccountDeps, ConnectedApp, ConnectedApps } from './deps.ts';
export { profileSaver } from './profile-calls.ts';
export {
  type GuardDeps,
  isRecentlyAuthenticated,
  reAuthenticateFor,
  requireUser,
} from './require-recent-auth.ts';
export { settingsRoutes } from './routes.ts';
