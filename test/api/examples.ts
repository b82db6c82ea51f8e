import { listOrders } from '../../server/billing/index.ts';
import type { ApiOperation } from '../../server/http/index.ts';
import { beginTotp } from '../../server/mfa/totp.ts';
import { findUser } from '../../server/users/index.ts';
import * as contact from '../account/contact/steps.ts';
import { appCode } from '../account/mfa-steps.ts';
import type { Shop } from '../billing/steps.ts';
import { codeFor, newPassword } from '../password/steps.ts';
import * as signUp from '../sign-up/steps.ts';
import { password, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import type { Credentials } from './callers.ts';

/** Input with which a call answers 200 to each caller that may make it. */
export type Example = { path?: string; query?: Record<string, string>; body?: object };

/** A member with a record: the caller, or somebody whom a client app names. */
export interface Named {
  userId: string;
  email: string;
  recordId: string;
}

const newAccount = () => ({
  email: signUp.newAddress(),
  password: signUp.newPassword,
  given_name: 'Ida',
  family_name: 'Sommer',
});

/** An account that a JSON call has begun. */
async function begunAccount(foyer: TestFoyer) {
  const account = newAccount();
  const answer = await foyer.browser().postJson('/identity/signUp', account);
  const { flow } = (await answer.json()) as { flow: string };
  return { ...account, flow };
}

/** A set-up that the member has begun, with the code that ends it. */
async function begunTotp({ deps }: TestFoyer, userId: string) {
  const user = await findUser(deps.database.db, toUserId(userId));
  if (!user) throw new Error('no such member');
  const settings = { ...deps, mfaBox: deps.boxes.mfa, brandName: 'Foyer' };
  const { setupId, secret } = await beginTotp(settings, user);
  return { flow: setupId, code: await appCode(secret, deps.now()) };
}

/** For callers who will not be let in: nothing need be begun for them. */
const nothingBegun = { flow: 'none', code: '000000' };

/** A code that everybody may use. */
export const promotionCode = 'MATRIX20';

/** What the calls on memberships are made with: the member's own customer, card and order; unknown ones where every call is refused. */
export async function billing({ userId }: Named, shop: Shop, letIn: boolean) {
  const unknown = { customer: 'cus_unknown', subscription: 'sub_unknown', invoice: 'in_unknown' };
  const user = letIn ? await findUser(shop.foyer.deps.database.db, toUserId(userId)) : undefined;
  if (!user) return { ...unknown, dueFor: async () => 0, setupIntent: async () => 'seti_unknown' };
  if (!(await shop.membership.getMembership(toUserId(userId)))?.card) {
    await shop.saveCard(user);
    await shop.buy(user, 'm-99');
  }
  const { customerId, subscriptionId } = await shop.membership.ensure(user, 7);
  const [order] = await listOrders(shop.foyer.deps.database.db, toUserId(userId));
  return {
    customer: customerId ?? '',
    subscription: subscriptionId ?? '',
    invoice: order?.invoiceId ?? '',
    setupIntent: () => shop.confirmCard(user),
    async dueFor(code: string) {
      const { plan, promotion } = await shop.membership.choose(user, shop.plan(code));
      return (await shop.membership.quote(user, plan, promotion)).dueCents / 100;
    },
  };
}

export const examples: Record<
  string,
  Example | ((named: Named, foyer: TestFoyer, shop: Shop, letIn: boolean) => Example | Promise<Example>)
> = {
  listPlans: { body: { tableName: 'plans' } },
  listPlanWithHash: { body: { planHash: 'starter-monthly' } },
  listPlanWithId: { body: { planId: '10' } },
  async orderCreation(named, _foyer, shop, letIn) {
    return { body: { invoiceId: (await billing(named, shop, letIn)).invoice } };
  },
  async customer(named, _foyer, shop, letIn) {
    return { path: `/customer/${(await billing(named, shop, letIn)).customer}` };
  },
  createCustomer: ({ email }) => ({ body: [{ email, plan_name: 'Basic-Plan-M', quantity: 1 }] }),
  async applyCoupon(named, _foyer, shop, letIn) {
    const { subscription } = await billing(named, shop, letIn);
    return { path: `/customer/signup/${subscription}`, body: { coupon: promotionCode, planId: '12' } };
  },
  coupon: { path: `/customer/coupons/${promotionCode}` },
  async upgradeSubscription(named, _foyer, shop, letIn) {
    const { customer, subscription, dueFor } = await billing(named, shop, letIn);
    const body = { plan_name: 'm-499', amount: (await dueFor('m-499')).toFixed(2) };
    return { path: `/customer/${customer}/subscription/${subscription}`, body };
  },
  async billingDetails(named, _foyer, shop, letIn) {
    const { customer } = await billing(named, shop, letIn);
    return { path: `/customer/${customer}/billing-details` };
  },
  async saveBillingDetails(named, _foyer, shop, letIn) {
    const { customer } = await billing(named, shop, letIn);
    return { path: `/customer/${customer}/billing-details`, body: { country: 'DE', postal_code: '10115' } };
  },
  async savePaymentType(named, _foyer, shop, letIn) {
    const { customer, setupIntent } = await billing(named, shop, letIn);
    return { path: `/customer/${customer}/paymenttypes/`, body: { source: await setupIntent() } };
  },
  verifyClient: { query: { client_id: 'known', logout_uri: 'http://127.0.0.1:9/out' } },
  listUserWithPoolId: ({ userId }) => ({ body: { userId } }),
  graphql: ({ userId }) => ({
    body: {
      query: 'query($id: ID) {listUsers(filter: {userId: {eq: $id}}) {items {userId userAttributes} nextToken}}',
      variables: { id: userId },
    },
  }),
  updateUser: ({ recordId }) => ({ body: { id: recordId, source: 'general' } }),
  signUpPlan: ({ userId }) => ({ body: { userId, jobTitle: 'Joiner' } }),
  checkSignupFromAppsumo: { body: { email: 'ada@example.com' } },
  messageSent: ({ userId }) => ({ body: { userId, title: 'Hello', description: 'How are you?', category: 'task' } }),
  listMessages: ({ userId }) => ({ query: { userId, status: 'unread', limit: '10' } }),
  async readMessage({ userId }, { deps }, _shop, letIn) {
    if (!letIn) return { path: '/messages/none/read' };
    const message = {
      channel: 'notification',
      userId: toUserId(userId),
      title: 'Hello',
      description: '',
      category: 'task',
    } as const;
    const { id } = await deps.database.transaction((trx) => deps.outbox.add(trx, message));
    await deps.outboxWorker.turn();
    return { path: `/messages/${id}/read` };
  },
  sentEmail: ({ email }) => ({ body: { emailAddress: email, action: 'password' } }),
  signUp: () => ({ body: newAccount() }),
  async confirmSignUp(_named, foyer) {
    const { email, flow } = await begunAccount(foyer);
    return { body: { flow, code: await signUp.codeFor(foyer, email) } };
  },
  async resendConfirmationCode(_named, foyer) {
    const { flow } = await begunAccount(foyer);
    await signUp.forgetWait(foyer, flow);
    return { body: { flow } };
  },
  forgotPassword: ({ email }) => ({ body: { username: email } }),
  async forgotPasswordSubmit(_named, foyer) {
    // Somebody else's: what the caller is signed in by must not end here.
    const { email } = await foyer.addUser();
    const asked = await foyer.browser().postJson('/identity/forgotPassword', { username: email });
    const { flow } = (await asked.json()) as { flow: string };
    return { body: { flow, code: await codeFor(foyer, email), newPassword } };
  },
  updateUserAttributes: { body: { given_name: 'Ida', 'custom:newsletter': 'true' } },
  changeEmail: () => ({ body: { email: contact.fresh().email } }),
  changePhone: () => ({ body: { phone_number: contact.fresh().phone } }),
  verifyUserAttribute: async ({ userId }, foyer, _shop, letIn) => ({
    body: { attribute: 'phone_number', ...(letIn ? await contact.begunPhone(foyer, userId) : nothingBegun) },
  }),
  setPreferredMFA: { body: { preferredMFA: 'NOMFA' } },
  verifyTOTPToken: async ({ userId }, foyer, _shop, letIn) => ({
    body: letIn ? await begunTotp(foyer, userId) : nothingBegun,
  }),
  changePassword: { body: { oldPassword: password, newPassword } },
  probeMember: { body: { note: 'hello' } },
  probeEither: { path: '/probe/either/7', body: { note: 'hello' } },
  probeClient: { body: { note: 'hello' } },
  probeSecurity: { body: { note: 'hello' } },
  probeRecent: { body: { note: 'hello' } },
};

/** The call as this caller makes it. */
export async function call(
  base: string,
  operation: ApiOperation,
  credentials: Credentials,
  example: Example,
): Promise<Response> {
  const { path = operation.path, query = {}, body } = example;
  const search = new URLSearchParams({ ...query, ...credentials.query });
  const headers = new Headers({
    // As a browser asks; a JSON route answers JSON all the same.
    accept: 'text/html',
    ...(body && { 'content-type': 'application/json' }),
    ...credentials.headers,
  });
  const cookie = await credentials.browser?.jar.getCookieString(base);
  if (cookie) headers.set('cookie', cookie);
  return sendRequest(`${base}${path}${search.size > 0 ? `?${search}` : ''}`, {
    method: operation.method.toUpperCase(),
    redirect: 'manual',
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** What a call is made with. */
export const inputOf = async ({ id }: ApiOperation, named: Named, shop: Shop, letIn: boolean): Promise<Example> => {
  const example = examples[id] ?? {};
  return typeof example === 'function' ? example(named, shop.foyer, shop, letIn) : example;
};

/** For everybody who knows it. */
export async function makePromotionCode({ stripe }: Shop): Promise<void> {
  const client = stripe.client();
  const { id } = await client.coupons.create({ percent_off: 20, duration: 'once' });
  await client.promotionCodes.create({ code: promotionCode, promotion: { type: 'coupon', coupon: id } });
}

/** What counts the calls of tests that come all from one address, more often than a visitor does. */
export const countersHere = (operations: readonly ApiOperation[]): string[] => [
  ...operations.map(({ id }) => `rate:api:${id}:127.0.0.1`),
  ...['reset-ask', 'reset-guess', 'sign-up', 'sign-up-code', 'contact-email', 'sms'].map(
    (what) => `${what}:address:127.0.0.1`,
  ),
];
