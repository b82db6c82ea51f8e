import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode } from 'simple-oauth2';
import {
  clientId,
  clientSecret,
  discover,
  fetchUserInfo,
  issuer,
  redirectUri,
  scope,
  serve,
  toSignOut,
} from './server.mjs';

const server = await discover();
const client = new AuthorizationCode({
  client: { id: clientId, secret: clientSecret },
  auth: { tokenHost: issuer, tokenPath: '/oauth2/token', authorizePath: '/oauth2/authorize' },
});
const userinfo = ({ token }) => fetchUserInfo(server.userinfo_endpoint, token.access_token);

serve({
  begin() {
    const verifier = randomBytes(32).toString('base64url');
    const url = client.authorizeURL({
      redirect_uri: redirectUri,
      scope,
      state: 'of this test',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    return { url, keeps: verifier };
  },
  async redeem(callback, verifier) {
    const code = callback.searchParams.get('code');
    const tokens = await client.getToken({ code, redirect_uri: redirectUri, code_verifier: verifier });
    return {
      userinfo: await userinfo(tokens),
      idToken: tokens.token.id_token,
      refreshToken: tokens.token.refresh_token,
    };
  },
  refresh: async (token) => userinfo(await client.createToken({ refresh_token: token }).refresh()),
  signOut: (idToken) => toSignOut(server.end_session_endpoint, idToken),
});
