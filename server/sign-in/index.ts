/**
 * The room where members sign in: the landing page, the password form, the limits on guessing (NIST SP 800-63B,
 * section 3.2.2), the page of the second step, asking again who it is, the terms interrupt, `entrance.ts`, the one way in
 * for whoever has shown one factor, and `next-step.ts`, the one dispatcher of what comes next.
 *
 * Does not own sessions (session/), how passwords and second factors are kept and checked (password/, mfa/), nor what a
 * client app gets (oauth/).
 */
export type { ClientRequests, Confirmations, ShortForm, SignInDeps, WaitingRequest } from './deps.ts';
export { createEntrance, type Entered, type Entrance } from './entrance.ts';
export { askToSignIn } from './guard.ts';
export { createMailedCodes, type MailedCodes } from './mailed-code.ts';
export { lacksDemandedFactor, nextStep, type Step, standsBeforeAuthorization } from './next-step.ts';
export { signInRoutes } from './routes.ts';
export { createWayOn, isSetUpPage, type WayOn } from './way-on.ts';
