import type { JWTHeaderParameters, JWTPayload } from 'jose';
import type { ClientRequest } from '../../server/oidc/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startProductionFoyer } from '../support/production-foyer.ts';
import { newKey, type ProofKey, proof } from '../support/proofs.ts';
import { sendRequest } from '../support/send-request.ts';
import { keyClient, parametersOf } from './key-client.ts';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Changes of a call: values that replace the correct ones. */
export interface CallChange {
  /** `null`: no assertion, but the client_id. */
  assertion?: JWTPayload | null;
  header?: Partial<JWTHeaderParameters>;
  key?: CryptoKey;
  /** `null`: no DPoP proof. */
  proofKey?: ProofKey | null;
  proofClaims?: Record<string, unknown>;
  fields?: Record<string, string>;
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
let clients = 0;

/** A client app of the FAPI 2.0 Security Profile that sends its calls by hand, so that each part can be wrong. */
export async function fapi2Client(foyer: TestFoyer, request: Partial<ClientRequest> = {}) {
  clients += 1;
  const redirectUris = [`https://client${clients}.example/callback`];
  const app = await keyClient(foyer, { profile: 'fapi2', redirectUris, ...request });
  const proofKey = await newKey();

  /** A call with a fresh assertion and proof; a missing nonce of the proof is added by a second call. */
  async function call(path: string, input: Record<string, string>, change: CallChange = {}): Promise<Answer> {
    const url = `${foyer.url}${path}`;
    const key = change.proofKey === undefined ? proofKey : change.proofKey;
    async function attempt(nonce?: string) {
      const authentication: Record<string, string> =
        change.assertion === null
          ? { client_id: app.client.id }
          : {
              client_assertion_type: assertionType,
              client_assertion: await app.sign({ sub: app.client.id, ...change.assertion }, change.header, change.key),
            };
      const answer = await sendRequest(url, {
        method: 'POST',
        ...(key && { headers: { DPoP: await proof(key, { htm: 'POST', htu: url, nonce }, change.proofClaims) } }),
        body: new URLSearchParams({ ...input, ...authentication, ...change.fields }),
      });
      const body = (await answer.json()) as Record<string, unknown>;
      return { status: answer.status, body, nonce: answer.headers.get('dpop-nonce') };
    }
    const first = await attempt();
    return first.body.error === 'use_dpop_nonce' && first.nonce !== null ? attempt(first.nonce) : first;
  }

  const push = (parameters: Record<string, string>, change: CallChange = {}) =>
    call('/oauth2/par', parameters, { proofKey: null, ...change });
  const addressOf = (requestUri: unknown, clientId = app.client.id) =>
    `${foyer.url}/oauth2/authorize?${new URLSearchParams({ client_id: clientId, request_uri: String(requestUri) })}`;

  return {
    ...app,
    proofKey,
    call,
    push,
    addressOf,
    /** The parameters of a correct request, and its verifier. */
    async parameters(change: Record<string, string> = {}) {
      const begun = await app.client.begin(change);
      return { begun, parameters: parametersOf(begun.url) };
    },
    /** The answer at the redirect address to a pushed request of a signed-in user. */
    async codeFor(
      browser: Browser,
      parameters: Record<string, string>,
      change: CallChange = {},
    ): Promise<URLSearchParams> {
      const pushed = await push(parameters, change);
      const back = locationOf(await browser.get(addressOf(pushed.body.request_uri), { from: 'cross-site' }));
      return new URL(back).searchParams;
    },
    redeem: (code: string | null, verifier: string, change: CallChange = {}) =>
      call(
        '/oauth2/token',
        {
          grant_type: 'authorization_code',
          code: code ?? '',
          redirect_uri: app.client.redirectUri,
          code_verifier: verifier,
        },
        change,
      ),
    /** Asks userinfo with a bound token. */
    async userInfo(token: string, scheme = 'DPoP', claims: Record<string, unknown> = {}): Promise<number> {
      const url = `${foyer.url}/oauth2/userInfo`;
      const ask = async (nonce?: string) =>
        sendRequest(url, {
          headers: {
            authorization: `${scheme} ${token}`,
            DPoP: await proof(proofKey, { htm: 'GET', htu: url, accessToken: token, nonce }, claims),
          },
        });
      const first = await ask();
      const nonce = first.headers.get('dpop-nonce');
      return first.status === 401 && nonce !== null ? (await ask(nonce)).status : first.status;
    },
  };
}

export type Fapi2Client = Awaited<ReturnType<typeof fapi2Client>>;

/** The whole flow of a signed-in user; `push` and `token` are what differs in the two calls. */
export function flows(app: () => Fapi2Client, browser: () => Browser) {
  return async (parameters: Record<string, string> = {}, { push = {}, token = {} }: Flow = {}) => {
    const { begun, parameters: own } = await app().parameters(parameters);
    const answer = await app().codeFor(browser(), own, push);
    return { begun, answer, tokens: await app().redeem(answer.get('code'), begun.verifier, token) };
  };
}

interface Flow {
  push?: CallChange;
  token?: CallChange;
}

export const errorOf = ({ status, body }: Answer) => [status, body.error];

interface Fapi2Setting {
  foyer: TestFoyer;
  user: User;
  browser: Browser;
  app: Fapi2Client;
}

/**
 * A Foyer with a signed-in user and a client app, for the modules of the OpenID Foundation's plan
 * `fapi2-security-profile-final-test-plan` for an authorization server with the variants openid_connect,
 * private_key_jwt, dpop, plain_fapi, unsigned, plain_response. Titles of tests begin with the name of the module without
 * `fapi2-security-profile-final-`.
 * @param use gets them before the first test
 * @returns the flow of the app in the user's browser
 */
export function startFapi2Plan(use: (setting: Fapi2Setting) => void): ReturnType<typeof flows> {
  let foyer: TestFoyer | undefined;
  let setting: Fapi2Setting | undefined;
  const current = () => {
    if (!setting) throw new Error('the client app is not registered yet');
    return setting;
  };
  beforeAll(async () => {
    foyer = await startProductionFoyer();
    const user = await foyer.addUser();
    setting = { foyer, user, browser: await foyer.signedIn(user), app: await fapi2Client(foyer) };
    use(setting);
  });
  afterAll(() => foyer?.close());
  afterEach(() => {
    jest.restoreAllMocks();
  });
  return flows(
    () => current().app,
    () => current().browser,
  );
}
