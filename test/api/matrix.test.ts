import { findUser, insertUserRecord } from '../../server/account/index.ts';
import type { Operation } from '../../server/http/index.ts';
import { beginTotp } from '../../server/mfa/enrolment.ts';
import { removeAllFactors } from '../../server/mfa/index.ts';
import * as contact from '../contact/steps.ts';
import { codeFor, newPassword } from '../password/steps.ts';
import { appCode } from '../settings/mfa-steps.ts';
import * as signUp from '../sign-up/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { createAnswerCheck, type OpenApi } from './answers.ts';
import { type Caller, type Credentials, callers } from './callers.ts';
import { probes, serveProbes } from './probes.ts';

/** Input with which a call answers 200 to whoever may make it. */
type Example = { path?: string; query?: Record<string, string>; body?: object };

/** A member with a record: the caller, or somebody whom a client app names. */
interface Named {
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
  const user = await findUser(deps.database.db, userId);
  if (!user) throw new Error('no such member');
  const settings = { ...deps, mfaBox: deps.boxes.mfa, brandName: 'Foyer' };
  const { flow, secret } = await beginTotp(settings, user);
  return { flow, code: await appCode(secret, deps.now()) };
}

const examples: Record<string, Example | ((named: Named, foyer: TestFoyer) => Example | Promise<Example>)> = {
  verifyClient: { query: { client_id: 'known', logout_uri: 'http://127.0.0.1:9/out' } },
  listUserWithPoolId: ({ userId }) => ({ body: { userId } }),
  updateUser: ({ recordId }) => ({ body: { id: recordId, source: 'general' } }),
  signUpPlan: ({ userId }) => ({ body: { userId, jobTitle: 'Joiner' } }),
  checkSignupFromAppsumo: { body: { email: 'ada@example.com' } },
  messageSent: ({ userId }) => ({ body: { userId, title: 'Hello', description: 'How are you?', category: 'task' } }),
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
  verifyUserAttribute: async ({ userId }, foyer) => ({
    body: { attribute: 'phone_number', ...(await contact.begunPhone(foyer, userId)) },
  }),
  setPreferredMFA: { body: { preferredMFA: 'NOMFA' } },
  verifyTOTPToken: async ({ userId }, foyer) => ({ body: await begunTotp(foyer, userId) }),
  changePassword: { body: { oldPassword: password, newPassword } },
  probeMember: { body: { note: 'hello' } },
  probeEither: { path: '/probe/either/7', body: { note: 'hello' } },
  probeClient: { body: { note: 'hello' } },
};

async function call(base: string, operation: Operation, credentials: Credentials, example: Example): Promise<Response> {
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
  return fetch(`${base}${path}${search.size > 0 ? `?${search}` : ''}`, {
    method: operation.method.toUpperCase(),
    redirect: 'manual',
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
}

describe.each(backends)('the guard of the JSON API on $name', (backend) => {
  let foyer: TestFoyer;
  let served: Awaited<ReturnType<typeof serveProbes>>;
  let check: ReturnType<typeof createAnswerCheck>;
  /** Every call with the address that serves it. */
  let calls: { operation: Operation; base: string; real: boolean }[];

  beforeAll(async () => {
    foyer = await startFoyer(backend);
    served = await serveProbes(foyer);
    await foyer.addClient({ id: 'known', logoutUris: ['http://127.0.0.1:9/out'] });
    check = createAnswerCheck((await (await fetch(`${foyer.url}/openapi.json`)).json()) as OpenApi);
    calls = [
      ...foyer.app.operations.map((operation) => ({ operation, base: foyer.url, real: true })),
      ...probes.map((operation) => ({ operation, base: served.url, real: false })),
      // It ends what the caller is signed in by.
    ].sort((a, b) => Number(a.operation.id === 'changePassword') - Number(b.operation.id === 'changePassword'));
  });
  afterAll(async () => {
    served?.server.close();
    await foyer?.close();
  });

  /** The rows come all from one address, and more often than a visitor does. */
  beforeEach(() =>
    foyer.deps.kv.delete(
      ...calls.flatMap(({ operation: { id } }) => [`rate:api:${id}:127.0.0.1`]),
      ...['reset-ask', 'reset-guess', 'sign-up', 'sign-up-code', 'contact-email', 'sms'].map(
        (what) => `${what}:address:127.0.0.1`,
      ),
    ),
  );

  const turnOff = (userId: string) =>
    foyer.deps.database.transaction((trx) => removeAllFactors(trx, userId, foyer.deps.now()));

  async function nameMember(id: string | undefined): Promise<Named> {
    const { database, now } = foyer.deps;
    const user = (id === undefined ? undefined : await findUser(database.db, id)) ?? (await foyer.addUser());
    const record = await database.transaction((trx) => insertUserRecord(trx, user.id, now()));
    return { userId: user.id, email: user.email, recordId: record.id };
  }

  it('every call with input has an example here, or the rows below would say nothing', () => {
    const without = calls.filter(
      ({ operation: { id, params, query, body } }) => (params ?? query ?? body) && !examples[id],
    );
    expect(without).toEqual([]);
    expect(calls.length).toBeGreaterThan(8);
  });

  it.each(Object.entries(callers))('%s', async (_name, { credentials, expected }: Caller) => {
    const given = await credentials(foyer);
    const named = await nameMember(given.is);
    const wrong: object[] = [];
    for (const { operation, base, real } of calls) {
      const { access, method, path } = operation;
      const want = access === 'public' ? 200 : expected(access);
      const example = examples[operation.id] ?? {};
      const input = typeof example === 'function' ? await example(named, foyer) : example;
      const answer = await call(base, operation, given, input);
      // What this turned on, the calls behind it would ask for; the row is about who calls.
      if (operation.id === 'verifyTOTPToken') await turnOff(named.userId);
      const told = answer.headers.get('www-authenticate');
      const body = (await answer.clone().json()) as { principal?: string; sub?: string };
      const faults = [
        ...(answer.status === want ? [] : [`answered ${answer.status} instead of ${want}`]),
        ...(real ? await check(operation, answer) : []),
        // RFC 6750, section 3: the refusal says what is missing.
        ...(want === 401 && !told?.startsWith('Bearer realm=') ? ['401 without a challenge'] : []),
        ...(given.headers?.authorization && answer.headers.getSetCookie().length > 0
          ? ['a token touched a cookie']
          : []),
        ...(want === 200 && access !== 'public' && given.is && (body.principal ?? body.sub ?? given.is) !== given.is
          ? ['acted for somebody else']
          : []),
      ];
      if (faults.length > 0) wrong.push({ call: `${method} ${path}`, access, faults, body });
    }
    expect(wrong).toEqual([]);
  });
});
