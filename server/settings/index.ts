/**
 * The room of the pages on which members look after their account (the specification's section 2, Security settings):
 * name, address, number, password, second factors, passkeys, devices, membership, their data, and leaving.
 *
 * Owns the pages and forms under /settings, and the guard that asks again who it is before something is changed that signs
 * a member in. Does not own the rules behind them: those are account/'s, password/'s, mfa/'s, passkeys/'s, contact/'s,
 * session/'s, membership/'s and leaving/'s, nor the forms for cards (checkout/).
 */

export { settingsOperations } from './account-operations.ts';
export type { AccountDeps, ConnectedApp, ConnectedApps } from './deps.ts';
export { profileSaver } from './profile-calls.ts';
export {
  type GuardDeps,
  isRecentlyAuthenticated,
  reAuthenticateFor,
  requireUser,
  ruleOfHandler,
} from './require-recent-auth.ts';
export { settingsRoutes } from './routes.ts';
