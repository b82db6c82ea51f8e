import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';
import { clientId, clientSecret, createApp, discover, issuer, redirectUri, start, toSignOut } from './server.mjs';

const server = await discover();
passport.use(
  'foyer',
  new OpenIDConnectStrategy(
    {
      issuer,
      authorizationURL: server.authorization_endpoint,
      tokenURL: server.token_endpoint,
      userInfoURL: server.userinfo_endpoint,
      clientID: clientId,
      clientSecret,
      callbackURL: redirectUri,
      scope: 'profile email',
      nonce: true,
      skipUserProfile: false,
    },
    (_issuer, profile, _context, idToken, done) => done(null, { profile, idToken }),
  ),
);
const app = createApp();
app.get(['/sign-in', '/callback'], (req, res, next) => {
  const answer = (error, member) => {
    if (error) return next(error);
    req.session.member = member;
    return res.redirect('/me');
  };
  passport.authenticate('foyer', answer)(req, res, next);
});
app.get('/me', (req, res) => {
  const { profile } = req.session.member ?? {};
  const userinfo = profile && { sub: profile.id, email: profile.emails[0].value };
  res.status(userinfo ? 200 : 401).json({ userinfo });
});
app.get('/sign-out', (req, res) => {
  const url = toSignOut(server.end_session_endpoint, req.session.member.idToken);
  req.session.destroy(() => res.redirect(url));
});
start(app);
