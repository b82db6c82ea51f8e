import * as oidc from 'openid-client';
import { appUrl, clientId, clientSecret, issuer, redirectUri, scope, serve } from './server.mjs';

const config = await oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, {
  execute: [oidc.allowInsecureRequests],
});
const userinfo = (tokens) => oidc.fetchUserInfo(config, tokens.access_token, oidc.skipSubjectCheck);

serve({
  async begin() {
    const verifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url, keeps: verifier };
  },
  async redeem(callback, pkceCodeVerifier) {
    const tokens = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier });
    return {
      claims: tokens.claims(),
      userinfo: await userinfo(tokens),
      idToken: tokens.id_token,
      refreshToken: tokens.refresh_token,
    };
  },
  refresh: async (token) => userinfo(await oidc.refreshTokenGrant(config, token)),
  signOut: (idToken) =>
    oidc.buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: `${appUrl}/` }),
});
