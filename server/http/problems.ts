/**
 * The problem documents of the JSON API (RFC 9457): one type for each cause, with its status and its own English text.
 * `docs/json-api.md` has the same table with what a caller does about each.
 */

const problem = <Status extends number>(status: Status, title: string, detail: string) => ({ status, title, detail });

/** Answers of the calls. The type of a problem document is `urn:foyer:problem:{name}`. */
export const apiProblems = {
  badRequest: problem(400, 'Bad request', 'The request cannot be read, or a header or parameter has a wrong form.'),
  // The title is the specification's (section 8).
  validation: problem(400, 'Validation Error Detected', 'A field is missing or has a value that is not accepted.'),
  wrongCode: problem(400, 'Wrong code', 'The code is not the one that was sent.'),
  codeExpired: problem(
    400,
    'Code no longer valid',
    'The code has expired, was used, or was entered wrongly too often.',
  ),
  wrongPassword: problem(400, 'Wrong password', 'The old password is not the password of the account.'),

  unauthorized: problem(401, 'No credentials', 'The call needs an access token, or the session of a member.'),
  tokenRevoked: problem(401, 'Access token not valid', 'Access Token has been revoked'),
  invalidProof: problem(401, 'DPoP proof not accepted', 'The token is bound to a key, and its proof is not accepted.'),
  insufficientAuthentication: problem(
    401,
    'Authentication too old or too weak',
    'The member must authenticate again, with the second factor if the account has one.',
  ),

  paymentRequired: problem(402, 'Payment refused', 'The card provider has refused the card or the charge.'),
  paymentAction: problem(402, 'Payment needs the member', 'The bank requires the member to confirm the payment.'),

  forbidden: problem(403, 'Not allowed', 'This server does not answer this caller.'),
  insufficientScope: problem(403, 'Scope missing', 'The access token lacks the scope that this call needs.'),
  wrongCaller: problem(403, 'Not open to this kind of caller', 'The call is not open to this kind of caller.'),
  otherMember: problem(403, 'Another member', 'The call names another member than the caller.'),
  crossSite: problem(403, 'Another site', 'A session counts only for requests of this site’s own pages.'),
  termsNotAccepted: problem(403, 'Terms not accepted', 'The member must accept the new terms first.'),
  secondFactorRequired: problem(403, 'Second factor required', 'The member must set up a second factor first.'),
  emailNotVerified: problem(403, 'Email address not verified', 'The member must confirm the email address first.'),
  accountDisabled: problem(403, 'Account disabled', 'User is disabled.'),

  notFound: problem(404, 'No such call', 'There is no call at this address.'),
  unknownMember: problem(404, 'No such member', 'No member has this id or email address.'),
  unknownClient: problem(404, 'No such client app', 'No client app is registered with these values.'),
  unknownFlow: problem(404, 'No such flow', 'The flow is unknown, has expired, or is complete.'),
  unknownCustomer: problem(404, 'No such customer', 'There is no such customer or subscription for this caller.'),
  unknownCard: problem(404, 'No such card', 'There is no such token or confirmed setup intent.'),
  unknownPlan: problem(404, 'No such plan', 'There is no such plan that is paid for.'),
  unknownInvoice: problem(404, 'No such invoice', 'There is no such invoice of this member, or it is not paid.'),
  unknownPromotionCode: problem(404, 'No such promotion code', 'There is no such promotion code.'),
  unknownNotification: problem(404, 'No such notification', 'The member has no such notification.'),
  methodNotAllowed: problem(405, 'Method not allowed', 'The header Allow names the methods of this address.'),

  differs: problem(409, 'Values differ', 'Values of the request differ from what is stored.'),
  alreadyExists: problem(409, 'Already in use', 'Another account has this value.'),
  changedMeanwhile: problem(409, 'Changed meanwhile', 'Another request has changed the account meanwhile.'),
  notPossibleNow: problem(409, 'Not possible now', 'The state of the account does not allow this now.'),
  planNotSold: problem(409, 'Plan not sold', 'The name is not that of one plan that is sold.'),
  promotionNotApplicable: problem(409, 'Promotion code not applicable', 'The promotion code cannot be used now.'),
  subscriptionPaused: problem(409, 'Membership paused', 'The membership is paused'),
  renewalPending: problem(409, 'Renewal pending', 'The renewal is being charged.'),
  debitPending: problem(409, 'Debit pending', 'A bank has an earlier debit'),
  unpaidInvoice: problem(409, 'Unpaid invoice', 'An earlier invoice must be paid first'),
  noCard: problem(409, 'No card', 'There is no card to charge'),
  cardsNotAccepted: problem(409, 'Cards not accepted', 'Cards are not accepted'),
  billingDetailsRequired: problem(409, 'Billing details required', 'A billing address is needed.'),
  requestToBeginRequired: problem(
    409,
    'Request to begin required',
    'The member must ask that the plan begins at once.',
  ),
  nothingToChange: problem(409, 'Nothing to change', 'There is nothing to change'),

  tooLarge: problem(413, 'Body too large', 'The body is larger than 16 KiB.'),
  unsupportedType: problem(415, 'Unsupported media type', 'The body must be JSON in UTF-8.'),
  wrongHost: problem(421, 'Another host', 'This server does not answer for the requested host.'),
  tooMany: problem(429, 'Too many requests', 'A limit is reached; retryAfter says for how many seconds.'),
  headersTooLarge: problem(431, 'Headers too large', 'The headers are larger than 16 KiB.'),
  internal: problem(500, 'Internal error', 'The server has failed; instance names the line of its log.'),
  unavailable: problem(503, 'Service unavailable', 'A store or another service does not answer; try again.'),
  busy: problem(503, 'Server busy', 'The server has too much to do; try again.'),
} as const;

/** Errors of pages and of the endpoints of OpenID Connect, which no call of the JSON API has. */
const pageProblems = {
  requestExpired: problem(400, 'Request expired', 'The request is complete or has expired.'),
  otherBrowser: problem(403, 'Another browser', 'The request was started in another browser.'),
  unregisteredClient: problem(400, 'Unknown client app', 'The client app is not registered.'),
  redirectNotRegistered: problem(400, 'Redirect address not registered', 'The redirect address is not registered.'),
  authorizationFailed: problem(400, 'Authorization failed', 'The authorization request cannot be fulfilled.'),
  signOutFailed: problem(400, 'Sign-out failed', 'The logout request cannot be fulfilled.'),
} as const;

export const problems = { ...apiProblems, ...pageProblems };

/** A cause that the JSON API can name. */
export type ApiProblem = keyof typeof apiProblems;
/** A cause of an error, of a call or of a page. */
export type ErrorKind = keyof typeof problems;

export const problemType = (kind: ErrorKind): string => `urn:foyer:problem:${kind}`;
