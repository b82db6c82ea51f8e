/**
 * The module of sessions: which user is signed in in which browser, and how that ends.
 * Owns the session record and its cookie (express-session: connect-redis on Redis, a store of its own on the embedded
 * file), the list of a user's sessions, the marker of known devices, and the mail about a sign-in from a new one. Does
 * not own passwords, factors, or the grants of client apps: those depend on a session through `SessionHooks`.
 */

export { countSessions, type EndedBy, endAllSessions, endOneSession } from './endings.ts';
export { createKnownDevices } from './known-devices.ts';
export { createDeviceRecognition, type DeviceRecognition } from './new-device-notice.ts';
export { returningBrowsers } from './returning-browser.ts';
export {
  type Acr,
  acrValues,
  type CurrentSession,
  createSessionReader,
  fullyAuthenticatedAt,
  getCurrentSession,
  meetsAcr,
  type SessionUser,
  sessionCookie,
  toAcr,
  type UpstreamSession,
  upstreamSessionSchema,
} from './session.ts';
export {
  createSessionHooks,
  type SessionHooks,
  type SessionSubscribers,
} from './session-hooks.ts';
export { maxSessions } from './session-limit.ts';
export { createSessionStore, isSignedOutElsewhere, sessionMiddleware } from './session-stores.ts';
export { createSessions, type Sessions } from './sessions.ts';
export type { AuthenticationInfo } from './start-session.ts';
export { type ListedSession, listSessions } from './user-sessions.ts';
