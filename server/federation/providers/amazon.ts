import { Strategy } from 'passport-amazon';
import OAuth2Strategy from 'passport-oauth2';
import { z } from 'zod';
import { parseUnknownJson } from '../../shared/index.ts';
import type { Provider, StrategySettings } from '../providers.ts';
import { createOAuth2Provider, type OAuth2Setup, verifyProfile } from './oauth2-provider.ts';
import type { Authenticator } from './passport.ts';
import { toEmail, toNames, toSubject } from './profile-claims.ts';

/** Reads the profile at the configured address: the base class only knows Amazon's. */
const profile = z.looseObject({});

class AmazonStrategy extends Strategy {
  private readonly profileURL: string;

  constructor({ options, profileURL, client }: OAuth2Setup) {
    super({ ...options, scope: ['profile'] }, verifyProfile);
    this._oauth2 = client;
    this.profileURL = profileURL;
  }

  override userProfile(accessToken: string, done: (error?: unknown, profile?: { _json: object }) => void): void {
    this._oauth2.get(this.profileURL, accessToken, (error, body) => {
      if (error) done(new OAuth2Strategy.InternalOAuthError('no profile', error));
      else done(null, { _json: profile.parse(parseUnknownJson(String(body))) });
    });
  }
}

/**
 * Login with Amazon, its authorization code grant. It only gives a whole name, and cannot be asked for a fresh
 * authentication.
 * Its addresses never count as verified: neither its profile nor its developer guide says that they are.
 */
export function openAmazon(settings: StrategySettings, passport: Authenticator): Provider | undefined {
  return createOAuth2Provider({
    settings,
    passport,
    kind: 'amazon',
    bearer: true,
    open: (setup) => new AmazonStrategy(setup),
    options: () => ({}),
    person: (claims) => ({
      subject: toSubject(claims.user_id),
      email: toEmail(claims.email),
      emailVerified: false,
      ...toNames({ whole: claims.name }),
      picture: undefined,
    }),
  });
}
