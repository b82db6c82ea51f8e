import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import express from 'express';
import { appUrl, clientId, clientSecret, issuer, scope, start } from './server.mjs';

const auth = betterAuth({
  baseURL: appUrl,
  secret: 'a secret of this test that is long enough',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  telemetry: { enabled: false },
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'foyer',
          clientId,
          clientSecret,
          discoveryUrl: `${issuer}/.well-known/openid-configuration`,
          scopes: scope.split(' '),
          postLogoutRedirectURI: `${appUrl}/`,
        },
      ],
    }),
  ],
});
const app = express();
app.all('/api/auth/*splat', toNodeHandler(auth));
app.get('/me', async (req, res) => {
  const headers = fromNodeHeaders(req.headers);
  const session = await auth.api.getSession({ headers });
  if (!session) return res.status(401).json({});
  const [account] = await auth.api.listUserAccounts({ headers });
  return res.json({ userinfo: { sub: account.accountId, email: session.user.email } });
});
app.get('/refresh', async (req, res) => {
  const headers = fromNodeHeaders(req.headers);
  const [{ id: accountId }] = await auth.api.listUserAccounts({ headers });
  await auth.api.refreshToken({ headers, body: { accountId } });
  const { data } = await auth.api.accountInfo({ headers, query: { accountId } });
  res.json({ userinfo: data });
});
start(app);
