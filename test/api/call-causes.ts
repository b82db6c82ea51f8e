import type { TestFoyer } from '../support/foyer.ts';
import { bearer, everyScope, service, signedInto } from './callers.ts';
import type { Example } from './examples.ts';

/** The answer that one call gives to one cause. */
interface CallCause {
  /** Id of the call. */
  call: string;
  type: string;
  /** The caller and input that lead to it. */
  make(foyer: TestFoyer): Promise<{ headers?: Record<string, string>; input: Example }>;
}

const allScopes = ['users:read', 'users:write', 'messages:send', 'messages:read', 'plans:read', 'payments:write'];
const asService = async (foyer: TestFoyer, input: Example) => ({
  ...bearer((await service(foyer, allScopes)).token),
  input,
});
const asMember = async (foyer: TestFoyer, input: Example) => ({
  ...bearer((await signedInto(foyer, everyScope)).tokens.access_token),
  input,
});
const byService = (call: string, type: string, input: Example): CallCause => ({
  call,
  type,
  make: (foyer) => asService(foyer, input),
});
const byMember = (call: string, type: string, input: Example): CallCause => ({
  call,
  type,
  make: (foyer) => asMember(foyer, input),
});
const byVisitor = (call: string, type: string, input: Example): CallCause => ({
  call,
  type,
  make: async () => ({ input }),
});

const message = { title: 'Hello', description: 'x', category: 'task' };
const account = { password: 'a-long-passphrase-7', given_name: 'Ida', family_name: 'Sommer' };
const newPassword = 'another-long-passphrase-8';
const card = { plan_name: 'm-99', amount: '99.00' };

export const callCauses: CallCause[] = [
  byMember('graphql', 'otherMember', {
    body: { query: '{listMessages(filter: {userId: {eq: "another"}}) {items {id}}}' },
  }),
  byMember('graphql', 'unknownNotification', { body: { query: 'mutation {readMessage(id: "none") {id}}' } }),
  byService('graphql', 'unknownMember', {
    body: { query: '{listMessages(filter: {userId: {eq: "unknown"}}) {items {id}}}' },
  }),
  byService('graphql', 'wrongCaller', { body: { query: 'mutation {readAllMessages {read}}' } }),
  byMember('listUserWithPoolId', 'otherMember', { body: { userId: 'another' } }),
  byMember('listUserWithPoolId', 'wrongCaller', { body: { userIds: ['another'] } }),
  byMember('signUpPlan', 'otherMember', { body: { userId: 'another' } }),
  byMember('signUpPlan', 'differs', { body: { source: 'appsumo' } }),
  byService('signUpPlan', 'unknownMember', { body: { userId: 'unknown' } }),
  byService('updateUser', 'unknownMember', { body: { id: 'unknown' } }),
  byMember('messageSent', 'otherMember', { body: { ...message, userId: 'another' } }),
  byService('messageSent', 'unknownMember', { body: { ...message, userId: 'unknown' } }),
  byMember('listMessages', 'otherMember', { query: { userId: 'another' } }),
  byService('listMessages', 'unknownMember', { query: { userId: 'unknown' } }),
  byMember('readMessage', 'unknownNotification', { path: '/messages/none/read' }),
  byService('sentEmail', 'unknownMember', { body: { emailAddress: 'unknown@example.com', action: 'password' } }),
  byVisitor('verifyClient', 'unknownClient', { query: { client_id: 'none', logout_uri: 'https://none.example/' } }),
  {
    call: 'signUp',
    type: 'alreadyExists',
    make: async (foyer) => ({ input: { body: { ...account, email: (await foyer.addUser()).email } } }),
  },
  byVisitor('confirmSignUp', 'unknownFlow', { body: { flow: 'none', code: '123456' } }),
  {
    call: 'confirmSignUp',
    type: 'wrongCode',
    async make(foyer) {
      const begun = await foyer.browser().postJson('/identity/signUp', { ...account, email: 'ida-code@example.com' });
      const { flow } = (await begun.json()) as { flow: string };
      return { input: { body: { flow, code: 'abc' } } };
    },
  },
  byVisitor('resendConfirmationCode', 'unknownFlow', { body: { flow: 'none' } }),
  byVisitor('forgotPassword', 'unknownMember', { body: { username: 'unknown@example.com' } }),
  byVisitor('forgotPasswordSubmit', 'codeExpired', { body: { flow: 'none', code: '123456', newPassword } }),
  byMember('changePassword', 'wrongPassword', { body: { oldPassword: 'wrong', newPassword } }),
  byMember('setPreferredMFA', 'notPossibleNow', { body: { preferredMFA: 'SMS_MFA' } }),
  byMember('verifyTOTPToken', 'codeExpired', { body: { flow: 'none', code: '123456' } }),
  {
    call: 'verifyTOTPToken',
    type: 'wrongCode',
    async make(foyer) {
      const { headers } = await asMember(foyer, {});
      const begun = await foyer.browser().postJson('/identity/setupTOTP', {}, headers);
      const { flow } = (await begun.json()) as { flow: string };
      return { headers, input: { body: { flow, code: 'abc' } } };
    },
  },
  byMember('verifyUserAttribute', 'codeExpired', { body: { attribute: 'email', flow: 'none', code: '123456' } }),
  {
    call: 'verifyUserAttribute',
    type: 'wrongCode',
    async make(foyer) {
      const { headers } = await asMember(foyer, {});
      const begun = await foyer.browser().postJson('/identity/changeEmail', { email: 'ida-new@example.com' }, headers);
      const { flow } = (await begun.json()) as { flow: string };
      return { headers, input: { body: { attribute: 'email', flow, code: 'abc' } } };
    },
  },
  {
    call: 'updateUserAttributes',
    type: 'alreadyExists',
    async make(foyer) {
      const body = { preferred_username: `ida${Date.now()}` };
      const first = await asMember(foyer, {});
      await foyer.browser().postJson('/identity/updateUserAttributes', body, first.headers);
      return asMember(foyer, { body });
    },
  },
  byService('customer', 'unknownCustomer', { path: '/customer/cus_none' }),
  byService('billingDetails', 'unknownCustomer', { path: '/customer/cus_none/billing-details' }),
  byService('saveBillingDetails', 'unknownCustomer', {
    path: '/customer/cus_none/billing-details',
    body: { country: 'DE', postal_code: '10115' },
  }),
  byService('createCustomer', 'unknownMember', { body: [{ email: 'unknown@example.com', plan_name: 'Basic-Plan-M' }] }),
  byMember('createCustomer', 'differs', { body: [{ email: 'unknown@example.com', plan_name: 'Basic-Plan-M' }] }),
  byService('coupon', 'unknownPromotionCode', { path: '/customer/coupons/NONE' }),
  byService('applyCoupon', 'unknownCustomer', { path: '/customer/signup/sub_none', body: { coupon: 'NONE' } }),
  byService('orderCreation', 'unknownInvoice', { body: { invoiceId: 'in_none' } }),
  byService('savePaymentType', 'unknownCustomer', {
    path: '/customer/cus_none/paymenttypes/',
    body: { source: 'tok_visa' },
  }),
  byService('upgradeSubscription', 'unknownCustomer', {
    path: '/customer/cus_none/subscription/sub_none',
    body: card,
  }),
  {
    call: 'forgotPassword',
    type: 'accountDisabled',
    async make(foyer) {
      const user = await foyer.addUser();
      const { db } = foyer.deps.database;
      await db.updateTable('users').set({ disabledAt: foyer.deps.now() }).where('id', '=', user.id).execute();
      return { input: { body: { username: user.email } } };
    },
  },
];
