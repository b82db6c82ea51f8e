import { OAuth2Server } from 'oauth2-mock-server';

const server = new OAuth2Server();
await server.issuer.keys.generate('RS256');
const person = { email: 'ada@acme.example', email_verified: true, given_name: 'Ada', family_name: 'Lovelace' };
server.service.on('beforeTokenSigning', (token) => Object.assign(token.payload, person));
await server.start(Number(process.env.PORT), '127.0.0.1');
server.issuer.url = process.env.APP_URL;
