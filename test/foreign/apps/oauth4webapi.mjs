import * as oauth from 'oauth4webapi';
import { clientId, clientSecret, issuer, redirectUri, scope, serve, toSignOut } from './server.mjs';

const options = { [oauth.allowInsecureRequests]: true };
const as = await oauth.processDiscoveryResponse(
  new URL(issuer),
  await oauth.discoveryRequest(new URL(issuer), options),
);
const client = { client_id: clientId };
const authentication = oauth.ClientSecretPost(clientSecret);

const userinfo = async ({ access_token: token }) =>
  oauth.processUserInfoResponse(
    ...[as, client, oauth.skipSubjectCheck],
    await oauth.userInfoRequest(as, client, token, options),
  );

serve({
  async begin() {
    const [verifier, state, nonce] = [
      oauth.generateRandomCodeVerifier(),
      oauth.generateRandomState(),
      oauth.generateRandomNonce(),
    ];
    const parameters = {
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    return {
      url: `${as.authorization_endpoint}?${new URLSearchParams(parameters)}`,
      keeps: { verifier, state, nonce },
    };
  },
  async redeem(callback, { verifier, state, nonce }) {
    const parameters = oauth.validateAuthResponse(as, client, callback, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...[as, client, authentication, parameters, redirectUri, verifier, options],
    );
    const checks = { expectedNonce: nonce, requireIdToken: true };
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, checks);
    await oauth.validateApplicationLevelSignature(as, answer, options);
    return {
      claims: oauth.getValidatedIdTokenClaims(tokens),
      userinfo: await userinfo(tokens),
      idToken: tokens.id_token,
      refreshToken: tokens.refresh_token,
    };
  },
  async refresh(token) {
    const answer = await oauth.refreshTokenGrantRequest(as, client, authentication, token, options);
    return userinfo(await oauth.processRefreshTokenResponse(as, client, answer));
  },
  signOut: (idToken) => toSignOut(as.end_session_endpoint, idToken),
});
