import express from 'express';
import samlp from 'samlp';

const { PORT, APP_URL, CERTIFICATE, PRIVATE_KEY, ACS } = process.env;
const emailClaim = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress';
const user = { id: 'ada', emails: [{ value: 'ada@acme.example' }], name: { givenName: 'Ada', familyName: 'Lovelace' } };
const nameIdentifierFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

const app = express();
for (const algorithm of ['sha256', 'sha1']) {
  const answer = samlp.auth({
    issuer: `${APP_URL}/${algorithm}`,
    cert: CERTIFICATE,
    key: PRIVATE_KEY,
    getUserFromRequest: () => user,
    recipient: ACS.replace('ALGORITHM', algorithm),
    destination: ACS.replace('ALGORITHM', algorithm),
    getPostURL: (_audience, _request, _req, callback) => callback(null, ACS.replace('ALGORITHM', algorithm)),
    profileMapper: () => ({
      getClaims: () => ({ [emailClaim]: user.emails[0].value, givenName: 'Ada', sn: 'Lovelace' }),
      getNameIdentifier: () => ({ nameIdentifier: user.id }),
    }),
    nameIdentifierFormat,
    signatureAlgorithm: `rsa-${algorithm}`,
    digestAlgorithm: algorithm,
  });
  app.get(`/${algorithm}`, answer);
}
app.listen(Number(PORT), '127.0.0.1');
