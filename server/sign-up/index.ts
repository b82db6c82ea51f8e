/**
 * The room where accounts are made: the steps PROFILE and SECURITY of a sign-up, the code that proves an address (also of
 * members whose address is not confirmed), and the same as JSON calls (the specification's sections 2, 4 and 7).
 *
 * Owns accounts that were begun (`sign_ups`) and the flow that leads from one to a member. Does not own codes (codes/),
 * the rules for passwords (password/), the member that it becomes (account/), the step PLAN (checkout/), nor what comes next
 * (sign-in/).
 */
export type { SignUpPlans, SignUpSettings } from './deps.ts';
export { signUpDataSource } from './personal-data.ts';
export { openSignUp, type SignUpRoom } from './room.ts';
