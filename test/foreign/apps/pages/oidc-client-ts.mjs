import { UserManager } from 'oidc-client-ts';
import { addButton, attempt, clientId, issuer, redirectUri, scope, show } from './page.mjs';

const manager = new UserManager({
  authority: issuer,
  client_id: clientId,
  redirect_uri: redirectUri,
  post_logout_redirect_uri: redirectUri,
  scope,
  loadUserInfo: true,
});
const showUser = (user) => {
  show('subject', user.profile.sub);
  show('email', user.profile.email);
};

attempt(async () => {
  if (location.search.includes('code=')) {
    await manager.signinCallback();
    history.replaceState({}, '', '/');
  }
  const user = await manager.getUser();
  if (!user) return addButton('Sign in', () => manager.signinRedirect());
  showUser(user);
  addButton('Refresh', async () => {
    const renewed = await manager.signinSilent();
    showUser(renewed);
    show('refreshed', String(renewed.access_token !== user.access_token));
  });
  return addButton('Sign out', () => manager.signoutRedirect());
});
