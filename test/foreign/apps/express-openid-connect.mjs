import express from 'express';
import openid from 'express-openid-connect';
import { MemoryStore } from 'express-session';
import { appUrl, clientId, clientSecret, issuer, scope, start } from './server.mjs';

const app = express();
app.use(
  openid.auth({
    issuerBaseURL: issuer,
    baseURL: appUrl,
    clientID: clientId,
    clientSecret,
    secret: 'a secret of this test that is long enough',
    authRequired: false,
    idpLogout: true,
    authorizationParams: { response_type: 'code', scope },
    backchannelLogout: { store: new MemoryStore() },
  }),
);
app.get('/me', async (req, res) => {
  if (!req.oidc.isAuthenticated()) return res.status(401).json({});
  return res.json({ claims: req.oidc.idTokenClaims, userinfo: await req.oidc.fetchUserInfo() });
});
app.get('/refresh', async (req, res) => {
  await req.oidc.accessToken.refresh();
  res.json({ userinfo: await req.oidc.fetchUserInfo() });
});
start(app);
