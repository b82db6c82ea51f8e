import type { ApiProblem } from './problems.ts';

/** The cause of a problem, and what a caller does about it. In Markdown, without links. */
interface ProblemDoc {
  cause: string;
  remedy: string;
}

const doc = (cause: string, remedy: string): ProblemDoc => ({ cause, remedy });

/** For the page `/docs/api`, and for the table in docs/json-api.md that `npm run docs` writes. */
export const problemDocs: Readonly<Record<ApiProblem, ProblemDoc>> = {
  badRequest: doc(
    'the request cannot be read: no JSON, no UTF-8, a repeated parameter, a token in the address',
    'correct the program',
  ),
  validation: doc(
    'a field is missing or is not accepted',
    'show the texts of `errors`, which name the fields; never with the value',
  ),
  wrongCode: doc('a code is not the one that was sent', 'ask for the code again; five wrong ones void it'),
  codeExpired: doc(
    'a code or its flow has expired, was used, or is void after wrong entries',
    'have another code sent',
  ),
  wrongPassword: doc('the old password is not that of the account', 'ask for it again'),
  unauthorized: doc('no credentials', 'send a token, or the session from a page of Foyer'),
  tokenRevoked: doc(
    'the access token has expired, was revoked, is not an access token, or its member or app is gone',
    'refresh it, or sign the member in again',
  ),
  invalidProof: doc(
    'a DPoP proof is missing or not accepted',
    'make another proof, with the nonce of the answer if there is one',
  ),
  insufficientAuthentication: doc(
    'the authentication is too old, or lacks the second factor (RFC 9470)',
    'send the member through a sign-in with the `max_age` and `acr_values` of the body',
  ),
  paymentRequired: doc('the card provider has refused', 'show `errMessage`; ask for another card'),
  paymentAction: doc('the bank wants the member to confirm', 'hand `client_secret` to Stripe.js, then repeat the call'),
  forbidden: doc('the server does not answer this machine: it is not in production', 'call it from its own machine'),
  insufficientScope: doc(
    'the token lacks the scope that `scope` names (RFC 6750)',
    'ask for a token with it; the client app must be registered for it',
  ),
  wrongCaller: doc('the call is not open to members, or not to services', 'use the other kind of token'),
  otherMember: doc('the call names another member than the caller', 'leave the id out, or send the member’s own'),
  crossSite: doc('the session came from another site’s page', 'use a token'),
  termsNotAccepted: doc('the member must accept new terms first', 'send the member through a sign-in'),
  secondFactorRequired: doc(
    'the member’s provider demands a second factor, and none is set up',
    'let the member set one up: by `/identity/setupTOTP`, or at `/settings`',
  ),
  emailNotVerified: doc('the member has not confirmed the email address', 'send the member through a sign-in'),
  accountDisabled: doc('an operator has disabled the account', 'tell the member to write to the operator'),
  notFound: doc('no call has this address', 'correct the address'),
  unknownMember: doc('no member has this id or email address', 'check the id; the member may have been deleted'),
  unknownClient: doc('no client app has this id and logout address', 'register the address, letter by letter'),
  unknownFlow: doc('the flow is unknown, has expired, or is complete', 'begin the sign-up again'),
  unknownCustomer: doc(
    'the caller has no such customer or subscription',
    'read the ids from the user record, or `POST /customer/` first',
  ),
  unknownCard: doc(
    'no such token, or a setup intent that is not confirmed',
    'confirm it in the browser, then repeat the call',
  ),
  unknownPlan: doc('no such plan that is paid for', 'take an id of `listPlans`'),
  unknownInvoice: doc('no such invoice of the member, or it is not paid', 'wait for the payment, then repeat the call'),
  unknownPromotionCode: doc('no such promotion code', 'ask for the code again'),
  unknownNotification: doc('the member has no such notification', 'read the list again'),
  methodNotAllowed: doc('another method', 'use one that `Allow` names'),
  differs: doc(
    'values differ from what the server has',
    'take `stored` from `errors`, show it to the member, and repeat the call',
  ),
  alreadyExists: doc('another account has the address, number or name', 'ask for another, or sign the member in'),
  changedMeanwhile: doc('another request changed the account at the same time', 'read it again'),
  notPossibleNow: doc(
    'the account is not ready for it: no verified number, no active app, or a factor that must stay',
    'do that first; `detail` says which',
  ),
  planNotSold: doc('`plan_name` names no plan that is sold, or several', 'send the plan’s id, or the `interval` too'),
  promotionNotApplicable: doc('the promotion code cannot be used now', 'show `detail`; go on without the code'),
  subscriptionPaused: doc('the membership is paused, or its member has asked for a pause', 'wait until it is resumed'),
  renewalPending: doc(
    'the renewal is being charged, or on hold',
    'repeat the call after `retryAfter`, or when the renewal is paid',
  ),
  debitPending: doc('a bank has an earlier debit', 'wait some days for its result'),
  unpaidInvoice: doc('an earlier invoice is unpaid', 'let the member pay it at `/settings`'),
  noCard: doc('there is no card to charge', 'save a card first'),
  cardsNotAccepted: doc('the operator does not accept cards', 'send the member to the pages'),
  billingDetailsRequired: doc(
    'country or postal code are missing, or no tax can be calculated for them',
    'save the billing details first',
  ),
  requestToBeginRequired: doc(
    'the member has not asked that the plan begins before a withdrawal is over',
    'ask the member, and send `begins_at_once`',
  ),
  nothingToChange: doc('the member has this plan already, and no payment waits', 'nothing'),
  tooLarge: doc('the body has more than 16 KiB', 'send less'),
  unsupportedType: doc('the body is not JSON in UTF-8', 'send `Content-Type: application/json`'),
  wrongHost: doc('the request is for another host', 'call the address of `PUBLIC_URL`'),
  tooMany: doc('too often', 'repeat the call after `retryAfter` seconds'),
  headersTooLarge: doc('the headers have more than 16 KiB', 'send smaller ones'),
  internal: doc('a fault of Foyer', 'quote `instance` to the operator'),
  unavailable: doc('a store or Stripe is away', 'repeat the call after `retryAfter`; that is safe'),
  busy: doc('too many password checks or visitors at once', 'repeat the call after `retryAfter`'),
};
