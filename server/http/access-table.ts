import type { ApiAccess } from './access.ts';

const memberReads = { member: 'account' } as const;
const credentials = { member: 'account:security', recent: true } as const;
/** A user whose provider requires a second factor sets it up with these calls. */
const factors = { ...credentials, settingUp: true } as const;
const charges = { member: 'account:payments', client: 'payments:write' } as const;

/**
 * The access rule of each JSON call, by the id of the call. The guard enforces it and the OpenAPI document shows it. A
 * call without an entry does not compile.
 */
export const callAccess = {
  // User records.
  currentUser: memberReads,
  currentSession: memberReads,
  userInfo: memberReads,
  userAttributes: memberReads,
  updateUserAttributes: { member: 'account' },
  listUserWithPoolId: { member: 'account', client: 'users:read', reads: true },
  graphql: { member: 'account', client: 'users:read', otherClient: 'messages:read', reads: true },
  signUpPlan: { member: 'account', client: 'users:write' },
  // Calls that change credentials.
  changeEmail: credentials,
  changePhone: factors,
  verifyUserAttribute: factors,
  changePassword: { member: 'account:security', recent: 'with-second-factor' },
  getPreferredMFA: { member: 'account', settingUp: true },
  setPreferredMFA: factors,
  setupTOTP: factors,
  verifyTOTPToken: factors,
  // Sign-up and forgotten passwords: the flow in the body is the caller's secret.
  signUp: 'public',
  confirmSignUp: 'public',
  resendConfirmationCode: 'public',
  forgotPassword: 'public',
  forgotPasswordSubmit: 'public',
  checkSignupFromAppsumo: 'public',
  // Plans, orders, cards.
  listPlans: 'public',
  listPlanWithHash: 'public',
  listPlanWithId: 'public',
  customer: { member: 'account', client: 'users:read' },
  createCustomer: { member: 'account', client: 'payments:write' },
  coupon: { member: 'account', client: 'plans:read' },
  updateUser: { member: 'account:payments', client: 'users:write' },
  billingDetails: { member: 'account', client: 'users:read' },
  saveBillingDetails: charges,
  orderCreation: charges,
  applyCoupon: charges,
  upgradeSubscription: charges,
  savePaymentType: { ...charges, recent: true },
  // Apps, mails, messages.
  listClients: { member: 'account', client: 'clients:read' },
  verifyClient: 'public',
  sentEmail: { client: 'messages:send' },
  messageSent: { member: 'account', client: 'messages:send' },
  listMessages: { member: 'account', client: 'messages:read' },
  readMessage: { member: 'account' },
  readAllMessages: { member: 'account' },
} as const satisfies Record<string, ApiAccess | 'public'>;

export type CallId = keyof typeof callAccess;

export const isCallId = (id: string): id is CallId => Object.hasOwn(callAccess, id);

/** Tests whether a call is open to the own tokens of client apps, by its id. */
export function isServiceCall(id: string): boolean {
  const access: ApiAccess | 'public' | undefined = new Map<string, ApiAccess | 'public'>(
    Object.entries(callAccess),
  ).get(id);
  return access !== undefined && access !== 'public' && access.client !== undefined;
}

const recordReaders = { member: 'account', client: 'users:read', reads: true } as const;
const messageReaders = { member: 'account', client: 'messages:read', reads: true } as const;
const userFields = { member: 'account', reads: true } as const;

/**
 * The access rule of each field of each GraphQL type. A field of the schema without an entry stops the engine. A rule
 * without `reads` changes something.
 */
export const graphqlAccess: Readonly<Record<string, ApiAccess>> = {
  'Query.listUsers': recordReaders,
  'ModelUserConnection.items': recordReaders,
  'ModelUserConnection.nextToken': recordReaders,
  'ModelUserConnection.startedAt': recordReaders,
  'User.id': recordReaders,
  'User.userId': recordReaders,
  'User.username': recordReaders,
  'User.firstName': recordReaders,
  'User.lastName': recordReaders,
  'User.jobTitle': recordReaders,
  'User.company': recordReaders,
  'User.planId': recordReaders,
  'User.source': recordReaders,
  'User.stripeCustomerId': recordReaders,
  'User.about': recordReaders,
  'User.additionalAttributes': recordReaders,
  'User.imageName': recordReaders,
  'User.notificationSetting': recordReaders,
  'User.socialMediaLinks': recordReaders,
  'User.status': recordReaders,
  'User.totalRewards': recordReaders,
  'User.userAttributes': recordReaders,
  'User.companyCategory': recordReaders,
  'User.userType': recordReaders,
  'User.createdAt': recordReaders,
  'User.updatedAt': recordReaders,
  'User._version': recordReaders,
  'User._deleted': recordReaders,
  'User._lastChangedAt': recordReaders,
  'Query.listMessages': messageReaders,
  'Mutation.readMessage': { member: 'account' },
  'Mutation.readAllMessages': { member: 'account' },
  'MessagesRead.read': userFields,
  'ModelMessageConnection.items': messageReaders,
  'ModelMessageConnection.nextToken': messageReaders,
  'ModelMessageConnection.startedAt': messageReaders,
  'Message.id': messageReaders,
  'Message.title': messageReaders,
  'Message.description': messageReaders,
  'Message.category': messageReaders,
  'Message.userId': messageReaders,
  'Message.status': messageReaders,
  'Message.security': messageReaders,
  'Message.email': messageReaders,
  'Message.action': messageReaders,
  'Message.plan': messageReaders,
  'Message.pagename': messageReaders,
  'Message.actiondescription': messageReaders,
  'Message.fullname': messageReaders,
  'Message.company': messageReaders,
  'Message.jobTitle': messageReaders,
  'Message.createdAt': messageReaders,
  'Message.updatedAt': messageReaders,
  'Message._version': messageReaders,
  'Message._deleted': messageReaders,
  'Message._lastChangedAt': messageReaders,
};
