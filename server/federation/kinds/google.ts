import { Strategy } from 'passport-google-oauth20';
import type { Provider, StrategySettings } from '../providers.ts';
import { standardEndpoints, standardIssuers } from './endpoints.ts';
import { type FamilyStrategy, openStandard } from './oauth2.ts';
import { emailOf, namesOf, pictureOf, subjectOf } from './person.ts';

/**
 * Google by OAuth 2.0 and its OpenID Connect userinfo. It cannot be asked to let somebody type a password again: `again` only
 * makes it show which accounts there are.
 */
export function openGoogle(settings: StrategySettings): Provider | undefined {
  const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET } = settings.config;
  const { authorization, token, profile } = standardEndpoints(settings.config).google;
  return openStandard({
    ...{ settings, id: 'google', name: 'Google', issuer: standardIssuers.google },
    credentials: { id: GOOGLE_CLIENT_ID, secret: GOOGLE_CLIENT_SECRET },
    configured: settings.file.google,
    refusesEmbeddedBrowsers: true,
    bearer: true,
    open: (options, verify) =>
      new Strategy(
        {
          ...options,
          scope: ['openid', 'profile', 'email'],
          authorizationURL: authorization,
          tokenURL: token,
          userProfileURL: profile,
        } as never,
        verify as never,
      ) as unknown as FamilyStrategy,
    options: ({ loginHint, again }) => ({ loginHint, ...(again && { prompt: 'select_account' }) }),
    person: (said) => ({
      subject: subjectOf(said.sub),
      email: emailOf(said.email),
      emailVerified: said.email_verified === true,
      ...namesOf({ given: said.given_name, family: said.family_name, whole: said.name }),
      picture: pictureOf(said.picture),
    }),
  });
}
