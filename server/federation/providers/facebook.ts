import { Strategy } from 'passport-facebook';
import { graphVersion } from '../../../config/standard-providers.ts';
import type { Provider, StrategySettings } from '../providers.ts';
import { createOAuth2Provider, type OAuth2Setup, verifyProfile } from './oauth2-provider.ts';
import type { Authenticator } from './passport.ts';
import { toEmail, toNames, toPictureUrl, toSubject } from './profile-claims.ts';

/** Reads the profile with the limits of Foyer's own client. */
class FacebookStrategy extends Strategy {
  constructor({ options, profileURL, client }: OAuth2Setup) {
    super(
      {
        ...options,
        scope: ['public_profile', 'email'],
        // appsecret_proof: a token that was stolen elsewhere is useless here.
        enableProof: true,
        graphAPIVersion: graphVersion,
        profileFields: ['id', 'displayName', 'name', 'emails', 'picture.type(large)'],
        profileURL,
      },
      verifyProfile,
    );
    this._oauth2 = client;
  }
}

/**
 * Facebook Login (Meta, "Manually Build a Login Flow"). Its guide mentions PKCE only for its OpenID Connect flow, but
 * the dialog supports it in this one too: a code with a challenge is refused without its verifier.
 * Its addresses never count as verified: the profile has no field for it (`verified` was about the account, and was
 * removed in Graph API 3.0), and Meta's guide to several sign-in methods asks apps to confirm the address themselves.
 */
export function openFacebook(settings: StrategySettings, passport: Authenticator): Provider | undefined {
  return createOAuth2Provider({
    settings,
    passport,
    kind: 'facebook',
    bearer: false,
    open: (setup) => new FacebookStrategy(setup),
    // `rerequest`: a user who once withheld the e-mail is asked for it again, or could never sign in.
    options: ({ repeated }) => ({ authType: repeated ? 'reauthenticate' : 'rerequest' }),
    person: (claims) => ({
      subject: toSubject(claims.id),
      email: toEmail(claims.email),
      emailVerified: false,
      ...toNames({ input: claims.first_name, family: claims.last_name, whole: claims.name }),
      picture: toPictureUrl((claims.picture as { data?: { url?: unknown } } | undefined)?.data?.url),
    }),
  });
}
