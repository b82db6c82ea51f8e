/**
 * The module of sign-ups: the steps PROFILE and SECURITY, the code that confirms an address (also of users with an
 * unconfirmed address), and the same as JSON calls (the specification's sections 2, 4 and 7).
 * Owns unconfirmed accounts (`sign_ups`) and the flow from one to a user. Does not own codes (messages/), the rules for
 * passwords (password/), the resulting user (users/), the step PLAN (billing/), nor the next step (sign-in/).
 */
export { openSignUp, signUpDataSource } from './create-sign-up-module.ts';
