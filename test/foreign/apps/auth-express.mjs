import { ExpressAuth, getSession } from '@auth/express';
import express from 'express';
import { clientId, clientSecret, discover, issuer, start, toSignOut } from './server.mjs';

const { end_session_endpoint: endpoint } = await discover();
const config = {
  secret: 'a secret of this test that is long enough',
  trustHost: true,
  // `idToken: false`: the profile comes from userinfo. The id token is validated all the same.
  providers: [{ id: 'foyer', name: 'Foyer', type: 'oidc', issuer, clientId, clientSecret, idToken: false }],
  callbacks: {
    jwt: ({ token, account, profile }) => (account ? { ...token, idToken: account.id_token, profile } : token),
    session: ({ session, token }) => ({ ...session, idToken: token.idToken, profile: token.profile }),
  },
};
const app = express();
app.set('trust proxy', true);
app.use('/auth', ExpressAuth(config));
app.get('/me', async (req, res) => {
  const session = await getSession(req, config);
  const { profile, user } = session ?? {};
  const userinfo = profile && { sub: profile.sub, email: user.email };
  res.status(userinfo ? 200 : 401).json({ claims: profile, userinfo });
});
app.get('/sign-out', async (req, res) => {
  const { idToken } = await getSession(req, config);
  res.clearCookie('authjs.session-token').redirect(toSignOut(endpoint, idToken));
});
start(app);
