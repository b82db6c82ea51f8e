import type { CallId } from './access-table.ts';

/** Address of the page that shows the document. */
export const apiReferencePath = '/docs/api';

/** The tags of the OpenAPI document, in the order of its pages. */
export const apiTags = {
  Members: 'The signed-in member: session, claims, user attributes and the user record.',
  Credentials: 'Email address, phone number, password and second factor of a member.',
  'Sign-up': 'New accounts, and new passwords for members who forgot theirs.',
  Plans: 'The plans that are sold, promotion codes and orders.',
  Customers: 'Customers at Stripe: subscriptions, cards and the data on invoices.',
  Apps: 'Client apps and the calls of the OpenID Provider that belong to them.',
  Messages: 'Mails to members, and notifications inside the marketplace.',
} as const;

export type ApiTag = keyof typeof apiTags;

/** The tag of each call, by the id of the call. A call without an entry does not compile. */
const tags: Record<CallId, ApiTag> = {
  currentUser: 'Members',
  currentSession: 'Members',
  userInfo: 'Members',
  userAttributes: 'Members',
  updateUserAttributes: 'Members',
  listUserWithPoolId: 'Members',
  graphql: 'Members',
  signUpPlan: 'Members',
  updateUser: 'Members',
  changeEmail: 'Credentials',
  changePhone: 'Credentials',
  verifyUserAttribute: 'Credentials',
  changePassword: 'Credentials',
  getPreferredMFA: 'Credentials',
  setPreferredMFA: 'Credentials',
  setupTOTP: 'Credentials',
  verifyTOTPToken: 'Credentials',
  signUp: 'Sign-up',
  confirmSignUp: 'Sign-up',
  resendConfirmationCode: 'Sign-up',
  forgotPassword: 'Sign-up',
  forgotPasswordSubmit: 'Sign-up',
  checkSignupFromAppsumo: 'Sign-up',
  listPlans: 'Plans',
  listPlanWithHash: 'Plans',
  listPlanWithId: 'Plans',
  coupon: 'Plans',
  applyCoupon: 'Plans',
  orderCreation: 'Plans',
  customer: 'Customers',
  createCustomer: 'Customers',
  billingDetails: 'Customers',
  saveBillingDetails: 'Customers',
  savePaymentType: 'Customers',
  upgradeSubscription: 'Customers',
  listClients: 'Apps',
  verifyClient: 'Apps',
  sentEmail: 'Messages',
  messageSent: 'Messages',
  listMessages: 'Messages',
  readMessage: 'Messages',
  readAllMessages: 'Messages',
};

/** Operation ids of the document, a verb and a noun, where the id of the call is none. It stays an alias. */
const operationIds: Partial<Record<CallId, string>> = {
  currentUser: 'getCurrentUser',
  currentSession: 'getCurrentSession',
  userInfo: 'getUserInfo',
  userAttributes: 'getUserAttributes',
  graphql: 'queryGraphql',
  signUpPlan: 'completeUserRecord',
  setupTOTP: 'beginTOTP',
  signUp: 'beginSignUp',
  forgotPassword: 'requestPasswordReset',
  forgotPasswordSubmit: 'resetPassword',
  checkSignupFromAppsumo: 'checkPartnerDeal',
  coupon: 'getPromotionCode',
  applyCoupon: 'applyPromotionCode',
  orderCreation: 'getOrder',
  customer: 'getCustomer',
  billingDetails: 'getBillingDetails',
  savePaymentType: 'saveCard',
  sentEmail: 'sendMail',
  messageSent: 'sendNotification',
};

const isCall = (id: string): id is CallId => Object.hasOwn(tags, id);

/** @throws if the id is no call of the access table */
export function apiName(id: string): { tag: ApiTag; operationId: string; alias?: string } {
  if (!isCall(id)) throw new Error(`${id} has no tag`);
  const operationId = operationIds[id];
  return { tag: tags[id], operationId: operationId ?? id, ...(operationId !== undefined && { alias: id }) };
}
