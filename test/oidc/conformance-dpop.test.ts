import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

/** Requirements of RFC 9449 with RFC 9126 in docs/conformance.md that no other test shows. */
describe('DPoP with pushed requests', () => {
  let foyer: TestFoyer;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser();
  });
  afterAll(() => foyer?.close());

  /** Pushes a request with a proof of this key and gets a code. */
  async function pushed(parameters: Record<string, string> = {}) {
    const client = await relyingParty(foyer, await foyer.addClient({ public: true }));
    const DPoP = oidc.getDPoPHandle(client.config, await oidc.randomDPoPKeyPair('ES256'));
    const begun = await client.begin(parameters);
    const asked = Object.fromEntries(new URL(begun.url).searchParams);
    const url = await oidc.buildAuthorizationUrlWithPAR(client.config, asked, { DPoP });
    const callback = new URL(await signInFor(foyer.browser(), { url: url.href }, user));
    const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce };
    const redeem = (options: oidc.DPoPOptions) =>
      oidc.authorizationCodeGrant(client.config, callback, checks, undefined, options);
    const another = oidc.getDPoPHandle(client.config, await oidc.randomDPoPKeyPair('ES256'));
    return { redeem, DPoP, another };
  }

  it('A DPoP proof on the pushed request binds the code to its key (RFC 9449, section 10.1)', async () => {
    const { redeem, DPoP } = await pushed();
    expect((await redeem({ DPoP })).token_type).toBe('dpop');
  });

  it.each(['another key', 'no key'])(
    'A code that a pushed proof bound is not redeemed with %s (section 10.1)',
    async (which) => {
      const { redeem, another } = await pushed();
      await expect(redeem(which === 'no key' ? {} : { DPoP: another })).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    },
  );

  it('A dpop_jkt that does not match the proof is refused at the push (section 10.1)', async () => {
    await expect(pushed({ dpop_jkt: 'A'.repeat(43) })).rejects.toMatchObject({ status: 400 });
  });
});
