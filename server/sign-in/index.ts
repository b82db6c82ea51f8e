/**
 * The room where members sign in: the landing page, the password form, the limits on guessing (NIST SP 800-63B,
 * section 3.2.2), the page of the second step, asking again who it is, the terms interrupt, `complete-sign-in.ts`, the one way in
 * for whoever has shown one factor, and `next-step.ts`, the one dispatcher of what comes next.
 *
 * Does not own sessions (session/), how passwords and second factors are kept and checked (password/, mfa/), nor what a
 * client app gets (oauth/).
 */

export { createSignIn, type SignIn, type SignInResult } from './complete-sign-in.ts';
export type {
  AuthorizeShorthand,
  ClientAuthorizations,
  EmailVerification,
  PendingAuthorization,
  SignInDeps,
} from './deps.ts';
export { createMailedCodes, type MailedCodes } from './mailed-code.ts';
export { createNextRedirect, isEnrolmentPage, type NextRedirect } from './next-redirect.ts';
export { blocksAuthorization, mustSetUpSecondFactor, nextStep, type Step } from './next-step.ts';
export { redirectToSignIn } from './require-sign-in.ts';
export { signInRoutes } from './routes.ts';
