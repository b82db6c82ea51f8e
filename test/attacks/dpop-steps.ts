import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { newKey, type ProofKey, proof } from '../support/proofs.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import type { Backend } from '../support/stores.ts';

const scope = 'openid email account';

/** A Foyer with a public client, whose tokens are bound to one key. */
export function setUpDpop(backend: Backend) {
  let foyer: TestFoyer;
  let user: User;
  let client: RelyingParty;
  let key: ProofKey;
  let tokens: { access_token: string; refresh_token: string };
  let nonce: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    client = await relyingParty(foyer, await foyer.addClient({ public: true, scopes: scope.split(' ') }), scope);
    key = await newKey();
    nonce = await freshNonce();
    tokens = await bound(key);
  });
  afterAll(() => foyer?.close());

  const tokenUrl = () => `${foyer.url}/oauth2/token`;
  const post = (fields: Record<string, string>, dpop?: string) =>
    sendRequest(tokenUrl(), {
      method: 'POST',
      headers: dpop === undefined ? {} : { dpop },
      body: new URLSearchParams({ client_id: client.id, ...fields }),
    });
  async function freshNonce(): Promise<string> {
    const { status, headers } = await post(
      { grant_type: 'refresh_token', refresh_token: 'x' },
      await proof(await newKey(), { htm: 'POST', htu: tokenUrl() }),
    );
    expect(status).toBe(400);
    return headers.get('dpop-nonce') ?? '';
  }
  const forToken = async (of: ProofKey, change = {}, header = {}) =>
    proof(of, { htm: 'POST', htu: tokenUrl(), nonce }, change, header);

  async function code(parameters: Record<string, string> = {}) {
    const begun = await client.begin(parameters);
    const callback = new URL(await signInFor(foyer.browser(), begun, user));
    return {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: client.redirectUri,
      code_verifier: begun.verifier,
    };
  }
  async function bound(to: ProofKey) {
    const answer = await post(await code(), await forToken(to));
    expect(answer.status).toBe(200);
    const got = (await answer.json()) as typeof tokens & { token_type: string };
    expect(got.token_type).toBe('DPoP');
    return got;
  }

  return {
    get foyer() {
      return foyer;
    },
    get user() {
      return user;
    },
    get client() {
      return client;
    },
    get key() {
      return key;
    },
    get tokens() {
      return tokens;
    },
    get nonce() {
      return nonce;
    },
    tokenUrl,
    post,
    freshNonce,
    forToken,
    code,
    bound,
  };
}
