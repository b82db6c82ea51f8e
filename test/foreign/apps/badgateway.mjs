import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
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
const client = new OAuth2Client({
  server: issuer,
  clientId,
  clientSecret,
  discoveryEndpoint: '/.well-known/openid-configuration',
});
const userinfo = ({ accessToken }) => fetchUserInfo(server.userinfo_endpoint, accessToken);

serve({
  async begin() {
    const codeVerifier = await generateCodeVerifier();
    const url = await client.authorizationCode.getAuthorizeUri({ redirectUri, codeVerifier, scope: scope.split(' ') });
    return { url, keeps: codeVerifier };
  },
  async redeem(callback, codeVerifier) {
    const tokens = await client.authorizationCode.getTokenFromCodeRedirect(callback, { redirectUri, codeVerifier });
    return { userinfo: await userinfo(tokens), idToken: tokens.idToken, refreshToken: tokens.refreshToken };
  },
  refresh: async (refreshToken) => userinfo(await client.refreshToken({ refreshToken, accessToken: '', expiresAt: 0 })),
  signOut: (idToken) => toSignOut(server.end_session_endpoint, idToken),
});
