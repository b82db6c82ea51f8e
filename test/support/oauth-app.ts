import * as oauth from 'oauth4webapi';
import type { TestFoyer } from './foyer.ts';
import type { Begun } from './relying-party.ts';

/** A typical client app with oauth4webapi: public, like pages without a server. */
export interface OauthApp {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
  begin(parameters?: Record<string, string>): Promise<Begun>;
  /** Redeems the response at the redirect address; the library verifies it. */
  redeem(callback: string, begun: Begun): Promise<{ accessToken: string; idToken: string; claims: oauth.IDToken }>;
  /** The user's claims from userInfo. */
  userInfo(accessToken: string, sub: string): Promise<oauth.UserInfoResponse>;
}

export async function oauthApp(
  foyer: Pick<TestFoyer, 'url'>,
  { id, redirectUri }: { id: string; redirectUri: string },
  scope = 'openid email',
): Promise<OauthApp> {
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(foyer.url);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  const client: oauth.Client = { client_id: id };
  return {
    as,
    client,
    async begin(parameters = {}) {
      const verifier = oauth.generateRandomCodeVerifier();
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
      const asked = {
        client_id: id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...parameters,
      };
      return { url: `${as.authorization_endpoint}?${new URLSearchParams(asked)}`, state, nonce, verifier };
    },
    async redeem(callback, { state, nonce, verifier }) {
      const parameters = oauth.validateAuthResponse(as, client, new URL(callback), state);
      const answer = await oauth.authorizationCodeGrantRequest(
        ...([as, client, oauth.None(), parameters, redirectUri, verifier, options] as const),
      );
      const checks = { expectedNonce: nonce, requireIdToken: true };
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, checks);
      const claims = oauth.getValidatedIdTokenClaims(tokens);
      if (!claims) throw new Error('there is no id token');
      return { accessToken: tokens.access_token, idToken: tokens.id_token ?? '', claims };
    },
    userInfo: async (accessToken, sub) =>
      oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, accessToken, options)),
  };
}
