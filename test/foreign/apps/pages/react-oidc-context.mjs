import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { AuthProvider, useAuth } from 'react-oidc-context';
import { attempt, clientId, issuer, redirectUri, scope, show } from './page.mjs';

const element = createElement;

function Member() {
  const auth = useAuth();
  if (auth.error) return element('p', { id: 'error' }, auth.error.message);
  if (!auth.isAuthenticated) return element('button', { onClick: () => auth.signinRedirect() }, 'Sign in');
  const { profile, access_token: token } = auth.user;
  const refresh = () =>
    attempt(async () => {
      const renewed = await auth.signinSilent();
      show('refreshed', String(renewed.access_token !== token));
    });
  return element(
    'main',
    {},
    element('p', { id: 'subject' }, profile.sub),
    element('p', { id: 'email' }, profile.email),
    element('button', { onClick: refresh }, 'Refresh'),
    element('button', { onClick: () => auth.signoutRedirect() }, 'Sign out'),
  );
}

const settings = {
  authority: issuer,
  client_id: clientId,
  redirect_uri: redirectUri,
  post_logout_redirect_uri: redirectUri,
  scope,
  loadUserInfo: true,
  onSigninCallback: () => history.replaceState({}, '', '/'),
};
const main = document.body.appendChild(document.createElement('div'));
createRoot(main).render(element(AuthProvider, settings, element(Member)));
