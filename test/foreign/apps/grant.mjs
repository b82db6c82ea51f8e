import grant from 'grant';
import { appUrl, clientId, clientSecret, createApp, discover, scope, start, toSignOut } from './server.mjs';

const server = await discover();
const app = createApp();
app.use(
  grant.express({
    defaults: { origin: appUrl, transport: 'session', state: true, nonce: true },
    foyer: {
      oauth: 2,
      authorize_url: server.authorization_endpoint,
      access_url: server.token_endpoint,
      profile_url: server.userinfo_endpoint,
      key: clientId,
      secret: clientSecret,
      scope,
      pkce: true,
      response: ['tokens', 'jwt', 'profile'],
      token_endpoint_auth_method: 'client_secret_basic',
      callback: '/me',
    },
  }),
);
app.get('/me', (req, res) => {
  const { profile, jwt, error } = req.session.grant?.response ?? {};
  res.status(profile ? 200 : 401).json({ claims: jwt?.id_token?.payload, userinfo: profile, error });
});
app.get('/sign-out', (req, res) => {
  const url = toSignOut(server.end_session_endpoint, req.session.grant.response.id_token);
  req.session.destroy(() => res.redirect(url));
});
start(app);
