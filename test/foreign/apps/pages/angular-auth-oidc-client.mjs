import '@angular/compiler';
import { provideHttpClient, withInterceptorsFromDi } from '@angular/common/http';
import { Component, inject, provideZonelessChangeDetection } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { provideRouter } from '@angular/router';
import { OidcSecurityService, provideAuth } from 'angular-auth-oidc-client';
import { firstValueFrom } from 'rxjs';
import { addButton, attempt, clientId, issuer, redirectUri, scope, show } from './page.mjs';

class Root {
  oidc = inject(OidcSecurityService);

  constructor() {
    attempt(async () => {
      const { isAuthenticated, userData, accessToken } = await firstValueFrom(this.oidc.checkAuth());
      if (!isAuthenticated) return addButton('Sign in', () => this.oidc.authorize());
      show('subject', userData.sub);
      show('email', userData.email);
      addButton('Refresh', async () => {
        const renewed = await firstValueFrom(this.oidc.forceRefreshSession());
        show('refreshed', String(renewed.accessToken !== accessToken));
      });
      return addButton('Sign out', () => firstValueFrom(this.oidc.logoff()));
    });
  }
}
Component({ selector: 'app-root', template: '' })(Root);

document.body.append(document.createElement('app-root'));
const auth = {
  config: {
    authority: issuer,
    redirectUrl: redirectUri,
    postLogoutRedirectUri: redirectUri,
    clientId,
    scope,
    responseType: 'code',
    useRefreshToken: true,
    silentRenew: true,
  },
};
attempt(() =>
  bootstrapApplication(Root, {
    providers: [
      provideZonelessChangeDetection(),
      provideHttpClient(withInterceptorsFromDi()),
      provideRouter([]),
      provideAuth(auth),
    ],
  }),
);
