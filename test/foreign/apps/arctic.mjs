import { CodeChallengeMethod, generateCodeVerifier, generateState, OAuth2Client } from 'arctic';
import { clientId, clientSecret, discover, fetchUserInfo, redirectUri, scope, serve, toSignOut } from './server.mjs';

const server = await discover();
const client = new OAuth2Client(clientId, clientSecret, redirectUri);
const scopes = scope.split(' ');
const userinfo = (tokens) => fetchUserInfo(server.userinfo_endpoint, tokens.accessToken());

serve({
  begin() {
    const verifier = generateCodeVerifier();
    const url = client.createAuthorizationURLWithPKCE(
      ...[server.authorization_endpoint, generateState(), CodeChallengeMethod.S256, verifier, scopes],
    );
    return { url, keeps: verifier };
  },
  async redeem(callback, verifier) {
    const code = callback.searchParams.get('code');
    const tokens = await client.validateAuthorizationCode(server.token_endpoint, code, verifier);
    return { userinfo: await userinfo(tokens), idToken: tokens.idToken(), refreshToken: tokens.refreshToken() };
  },
  refresh: async (token) => userinfo(await client.refreshAccessToken(server.token_endpoint, token, scopes)),
  signOut: (idToken) => toSignOut(server.end_session_endpoint, idToken),
});
