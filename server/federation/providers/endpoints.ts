import { toProviderId } from '../../shared/index.ts';
import type { StrategySettings } from '../providers.ts';

/** Each Graph API version is supported for two years after its successor was released. */
export const graphVersion = 'v23.0';

/** A fixed issuer for each: OAuth 2.0 has none. */
export const standardIssuers = {
  google: 'https://accounts.google.com',
  facebook: 'https://www.facebook.com',
  amazon: 'https://www.amazon.com',
} as const;

/** The configuration of these three names no id. */
export const standardProviderIds = {
  google: toProviderId('google'),
  facebook: toProviderId('facebook'),
  amazon: toProviderId('amazon'),
} as const;

export interface Endpoints {
  authorization: string;
  token: string;
  profile: string;
}

/** The endpoints of the three; a stand-in has the same paths at one address. */
export function standardEndpoints({
  GOOGLE_URL,
  FACEBOOK_URL,
  AMAZON_URL,
}: Pick<StrategySettings['config'], 'GOOGLE_URL' | 'FACEBOOK_URL' | 'AMAZON_URL'>): Record<
  'google' | 'facebook' | 'amazon',
  Endpoints
> {
  const at = (base: string | undefined, host: string, path: string) => new URL(path, base ?? host).href;
  return {
    // From Google's discovery document.
    google: {
      authorization: at(GOOGLE_URL, 'https://accounts.google.com', '/o/oauth2/v2/auth'),
      token: at(GOOGLE_URL, 'https://oauth2.googleapis.com', '/token'),
      profile: at(GOOGLE_URL, 'https://openidconnect.googleapis.com', '/v1/userinfo'),
    },
    facebook: {
      authorization: at(FACEBOOK_URL, 'https://www.facebook.com', `/${graphVersion}/dialog/oauth`),
      token: at(FACEBOOK_URL, 'https://graph.facebook.com', `/${graphVersion}/oauth/access_token`),
      profile: at(FACEBOOK_URL, 'https://graph.facebook.com', `/${graphVersion}/me`),
    },
    amazon: {
      authorization: at(AMAZON_URL, 'https://www.amazon.com', '/ap/oa'),
      token: at(AMAZON_URL, 'https://api.amazon.com', '/auth/o2/token'),
      profile: at(AMAZON_URL, 'https://api.amazon.com', '/user/profile'),
    },
  };
}
