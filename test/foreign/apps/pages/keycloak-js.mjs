import Keycloak from 'keycloak-js';
import { addButton, attempt, clientId, issuer, redirectUri, scope, show } from './page.mjs';

const keycloak = new Keycloak({ oidcProvider: issuer, clientId });

attempt(async () => {
  const isSignedIn = await keycloak.init({ checkLoginIframe: false, scope });
  if (!isSignedIn) return addButton('Sign in', () => keycloak.login({ redirectUri }));
  return show('subject', keycloak.subject);
});
