import type { CallId } from './access-table.ts';
import type { ApiOperation } from './api-operation.ts';
import { type ApiProblem, apiProblems } from './problems.ts';

/** The causes that a call has besides those of its guard, its input and its limits. */
const ownProblems: Readonly<Partial<Record<CallId, readonly ApiProblem[]>>> = {
  graphql: [
    ...(['otherMember', 'wrongCaller', 'termsNotAccepted', 'emailNotVerified'] as const),
    ...(['unknownMember', 'unknownNotification'] as const),
  ],
  listUserWithPoolId: ['otherMember', 'wrongCaller'],
  signUpPlan: ['otherMember', 'unknownMember', 'differs'],
  updateUser: ['unknownMember', 'differs', 'billingDetailsRequired'],
  updateUserAttributes: ['alreadyExists'],
  changePhone: ['notPossibleNow'],
  verifyUserAttribute: ['wrongCode', 'codeExpired', 'alreadyExists'],
  changePassword: ['wrongPassword', 'changedMeanwhile'],
  setPreferredMFA: ['notPossibleNow'],
  verifyTOTPToken: ['wrongCode', 'codeExpired'],
  signUp: ['alreadyExists'],
  confirmSignUp: ['wrongCode', 'codeExpired', 'accountDisabled', 'unknownFlow', 'alreadyExists'],
  resendConfirmationCode: ['unknownFlow'],
  forgotPassword: ['accountDisabled', 'unknownMember'],
  forgotPasswordSubmit: ['wrongCode', 'codeExpired', 'accountDisabled'],
  customer: ['unknownCustomer'],
  createCustomer: ['unknownMember', 'differs', 'billingDetailsRequired'],
  coupon: ['unknownPromotionCode'],
  billingDetails: ['unknownCustomer'],
  saveBillingDetails: ['unknownCustomer'],
  orderCreation: ['unknownInvoice', 'differs'],
  applyCoupon: [
    ...(['unknownCustomer', 'unknownPlan', 'unknownPromotionCode'] as const),
    ...(['promotionNotApplicable', 'billingDetailsRequired'] as const),
  ],
  upgradeSubscription: [
    ...(['paymentRequired', 'paymentAction', 'unknownCustomer', 'unknownPromotionCode'] as const),
    ...(['differs', 'planNotSold', 'promotionNotApplicable', 'noCard', 'billingDetailsRequired'] as const),
    ...(['unpaidInvoice', 'renewalPending', 'debitPending', 'subscriptionPaused', 'nothingToChange'] as const),
    'requestToBeginRequired',
  ],
  savePaymentType: ['paymentRequired', 'unknownCustomer', 'unknownCard', 'differs', 'cardsNotAccepted'],
  verifyClient: ['unknownClient'],
  sentEmail: ['unknownMember'],
  messageSent: ['otherMember', 'unknownMember'],
  listMessages: ['otherMember', 'unknownMember'],
  readMessage: ['unknownNotification'],
};

const hasOwn = (id: string): id is CallId => Object.hasOwn(ownProblems, id);

/** The causes of the guard. Public calls have them with the header of visitors. */
function guardProblems({ access, method }: Pick<ApiOperation, 'access' | 'method'>): ApiProblem[] {
  const credentials = ['unauthorized', 'tokenRevoked', 'invalidProof', 'insufficientScope'] as const;
  if (access === 'public') return [...credentials, 'wrongCaller', 'crossSite'];
  const { member, client, recent, settingUp, reads } = access;
  return [
    ...credentials,
    ...(member === undefined || client === undefined ? (['wrongCaller'] as const) : []),
    // A session is looked at before the kind of caller.
    'crossSite',
    ...(member !== undefined && !settingUp ? (['secondFactorRequired'] as const) : []),
    ...(member !== undefined && !reads && method !== 'get' ? (['termsNotAccepted', 'emailNotVerified'] as const) : []),
    ...(recent === undefined ? [] : (['insufficientAuthentication'] as const)),
  ];
}

/** All causes that the answers of a call can name, by their status. */
export function listCallProblems(operation: Pick<ApiOperation, 'id' | 'access' | 'method' | 'body'>): ApiProblem[] {
  const { id, body } = operation;
  const causes: ApiProblem[] = [
    ...(['badRequest', 'validation'] as const),
    ...guardProblems(operation),
    ...(hasOwn(id) ? (ownProblems[id] ?? []) : []),
    ...(body ? (['tooLarge', 'unsupportedType'] as const) : []),
    ...(['tooMany', 'unavailable', 'busy'] as const),
  ];
  return [...new Set(causes)].toSorted((one, other) => apiProblems[one].status - apiProblems[other].status);
}
