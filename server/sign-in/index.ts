/**
 * The room where members sign in: the landing page, the password form, the terms interrupt, and `next-step.ts`, the one
 * dispatcher of what comes next.
 *
 * Does not own sessions (session/), how passwords are kept and how often one may be guessed (password/), which terms are
 * in force (legal/), nor what a client app gets (oauth/).
 */
export type { Confirmations, SignInDeps, WaitingRequest } from './deps.ts';
export { askToSignIn } from './guard.ts';
export { nextStep, type Step, standsBeforeAuthorization } from './next-step.ts';
export { signInRoutes } from './routes.ts';
export { createWayOn, type WayOn } from './way-on.ts';
