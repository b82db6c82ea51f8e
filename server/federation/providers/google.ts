import { Strategy } from 'passport-google-oauth20';
import type { Provider, StrategySettings } from '../providers.ts';
import { createOAuth2Provider, type OAuth2Setup, verifyProfile } from './oauth2-provider.ts';
import type { Authenticator } from './passport.ts';
import { toEmail, toNames, toPictureUrl, toSubject } from './profile-claims.ts';

/** Reads the profile with the limits of Foyer's own client. */
class GoogleStrategy extends Strategy {
  constructor({ options, profileURL, client }: OAuth2Setup) {
    super({ ...options, scope: ['openid', 'profile', 'email'], userProfileURL: profileURL }, verifyProfile);
    this._oauth2 = client;
  }
}

/**
 * Google with OAuth 2.0 and its OpenID Connect userinfo. It cannot be asked for the password again: `again` only makes
 * it show a choice of accounts.
 */
export function openGoogle(settings: StrategySettings, passport: Authenticator): Provider | undefined {
  return createOAuth2Provider({
    settings,
    passport,
    kind: 'google',
    bearer: true,
    open: (setup) => new GoogleStrategy(setup),
    options: ({ loginHint, repeated }) => ({ loginHint, ...(repeated && { prompt: 'select_account' }) }),
    person: (claims) => ({
      subject: toSubject(claims.sub),
      email: toEmail(claims.email),
      emailVerified: claims.email_verified === true,
      ...toNames({ input: claims.given_name, family: claims.family_name, whole: claims.name }),
      picture: toPictureUrl(claims.picture),
    }),
  });
}
