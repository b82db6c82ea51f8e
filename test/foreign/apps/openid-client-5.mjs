import { generators, Issuer } from 'openid-client-5';
import { appUrl, clientId, clientSecret, issuer, redirectUri, scope, serve } from './server.mjs';

const { Client } = await Issuer.discover(issuer);
const client = new Client({
  client_id: clientId,
  client_secret: clientSecret,
  redirect_uris: [redirectUri],
  response_types: ['code'],
});

serve({
  begin() {
    const verifier = generators.codeVerifier();
    const url = client.authorizationUrl({
      scope,
      code_challenge: generators.codeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { url, keeps: verifier };
  },
  async redeem(callback, verifier) {
    const parameters = client.callbackParams(callback.href);
    const tokens = await client.callback(redirectUri, parameters, { code_verifier: verifier });
    return {
      claims: tokens.claims(),
      userinfo: await client.userinfo(tokens),
      idToken: tokens.id_token,
      refreshToken: tokens.refresh_token,
    };
  },
  refresh: async (token) => client.userinfo(await client.refresh(token)),
  signOut: (idToken) => client.endSessionUrl({ id_token_hint: idToken, post_logout_redirect_uri: `${appUrl}/` }),
});
