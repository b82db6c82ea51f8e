/**
 * The module in which users sign in: the landing page, the password form, the second-factor page, re-authentication,
 * the page that asks for new terms, the states of a sign-in (`sign-in-state.ts`), `complete-sign-in.ts`, the only way
 * from a first factor to a session, and `next-step.ts`, which alone decides what comes next.
 * Does not own sessions (sessions/), how passwords and second factors are stored, checked and limited (password/,
 * mfa/), nor what a client app gets (oidc/).
 */

export { createSignIn, type SignIn, signInWithAddress } from './complete-sign-in.ts';
export type { AuthorizeShorthand, ClientAuthorizations, EmailVerification, PendingAuthorization } from './deps.ts';
export { findImprintFaults } from './imprint-faults.ts';
export { informationRoutes } from './information-pages.ts';
export { type Legal, LegalFilesError, loadLegal, shippedLegalDir } from './legal-documents.ts';
export { createMailedCodes, type MailedCodes } from './mailed-code.ts';
export { createNextRedirect, type NextRedirect } from './next-redirect.ts';
export { blocksAuthorization, type Step } from './next-step.ts';
export { prepareSignInPage } from './prepared-sign-in-page.ts';
export {
  findUserOrRedirect,
  redirectToSignIn,
  requireUser,
  type UserGuardDeps,
  type UserLookupDeps,
  type UserRequest,
} from './require-user.ts';
export { signInRoutes } from './routes.ts';
