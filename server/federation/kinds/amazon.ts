import { Strategy } from 'passport-amazon';
import type { Provider, StrategySettings } from '../providers.ts';
import { standardEndpoints, standardIssuers } from './endpoints.ts';
import { type FamilyStrategy, openStandard, type Profile } from './oauth2.ts';
import { emailOf, namesOf, subjectOf } from './person.ts';

/**
 * Login with Amazon, its authorization code grant. It knows a whole name only, and has no way to be asked that somebody
 * shows again who they are.
 *
 * Its addresses never count as confirmed: neither its profile nor its developer guide says that they are.
 */
export function openAmazon(settings: StrategySettings): Provider | undefined {
  const { AMAZON_CLIENT_ID, AMAZON_CLIENT_SECRET } = settings.config;
  const { authorization, token, profile } = standardEndpoints(settings.config).amazon;
  return openStandard({
    ...{ settings, id: 'amazon', name: 'Amazon', issuer: standardIssuers.amazon },
    credentials: { id: AMAZON_CLIENT_ID, secret: AMAZON_CLIENT_SECRET },
    configured: settings.file.amazon,
    refusesEmbeddedBrowsers: false,
    bearer: true,
    open: (options, verify) => {
      const strategy = new Strategy(
        {
          ...options,
          scope: ['profile'],
          authorizationURL: authorization,
          tokenURL: token,
        },
        verify,
      ) as unknown as AmazonStrategy;
      // Its own knows no address but Amazon's.
      strategy.userProfile = function (this: AmazonStrategy, accessToken, done) {
        this._oauth2.get(profile, accessToken, (error, text) => {
          if (error) done(Object.assign(new Error('profile'), { name: 'InternalOAuthError', oauthError: error }));
          else done(null, { _json: JSON.parse(text ?? '') });
        });
      };
      return strategy;
    },
    options: () => ({}),
    person: (said) => ({
      subject: subjectOf(said.user_id),
      email: emailOf(said.email),
      emailVerified: false,
      ...namesOf({ whole: said.name }),
      picture: undefined,
    }),
  });
}

type AmazonStrategy = FamilyStrategy & {
  _oauth2: { get(url: string, accessToken: string, done: (error: unknown, text?: string) => void): void };
  userProfile(this: AmazonStrategy, accessToken: string, done: (error: unknown, profile?: Profile) => void): void;
};
