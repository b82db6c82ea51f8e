import { Strategy as PassportAmazon } from 'passport-amazon';
import { Strategy as PassportFacebook } from 'passport-facebook';
import { Strategy as PassportGoogle } from 'passport-google-oauth20';
import OAuth2Strategy from 'passport-oauth2';
import { z } from 'zod';
import {
  graphVersion,
  type StandardKind,
  type StandardProvider,
  standardProviders,
} from '../../../config/standard-providers.ts';
import { parseUnknownJson } from '../../shared/index.ts';
import type { UpstreamIdentity } from '../identity.ts';
import type { Provider, StrategySettings } from '../providers.ts';
import { createOAuth2Provider, type OAuth2Setup, verifyProfile } from './oauth2-provider.ts';
import type { Authenticator } from './passport.ts';
import { readFlag, toEmail, toNames, toPictureUrl, toSubject } from './profile-claims.ts';

type Claims = Record<string, unknown>;

const jsonObject = z.looseObject({});

/** Reads the profile at the configured address: the classes of these know none, or only Amazon's. */
function toProfileStrategy(Base: typeof OAuth2Strategy) {
  return class extends Base {
    private readonly profileURL: string;

    constructor({ options, profileURL, client }: OAuth2Setup) {
      super(options, verifyProfile);
      this._oauth2 = client;
      this.profileURL = profileURL;
    }

    override userProfile(accessToken: string, done: (error?: unknown, profile?: { _json: object }) => void): void {
      this._oauth2.get(this.profileURL, accessToken, (error, body) => {
        if (error) done(new OAuth2Strategy.InternalOAuthError('no profile', error));
        else done(null, { _json: jsonObject.parse(parseUnknownJson(String(body))) });
      });
    }
  };
}

const AmazonStrategy = toProfileStrategy(PassportAmazon);
/** Of a provider whose strategy has no package. */
const PlainStrategy = toProfileStrategy(OAuth2Strategy);

class GoogleStrategy extends PassportGoogle {
  constructor({ options, profileURL, client }: OAuth2Setup) {
    super({ ...options, userProfileURL: profileURL }, verifyProfile);
    this._oauth2 = client;
  }
}

/**
 * Facebook Login (Meta, "Manually Build a Login Flow"). Its guide mentions PKCE only for its OpenID Connect flow, but
 * the dialog supports it in this one too: a code with a challenge is refused without its verifier.
 */
class FacebookStrategy extends PassportFacebook {
  constructor({ options, profileURL, client }: OAuth2Setup) {
    super(
      {
        ...options,
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

interface StandardClient {
  open(setup: OAuth2Setup): OAuth2Strategy;
  /** The options of its `authorizationParams`; without them it can neither be asked again nor get a hint. */
  options?(requested: { loginHint?: string | undefined; repeated: boolean }): object;
  /** Whether the token is in the address when the profile is read; else in a header. */
  hasTokenInAddress?: boolean;
}

const clients: Record<StandardProvider['client'], StandardClient> = {
  google: {
    open: (setup) => new GoogleStrategy(setup),
    // It cannot be asked for the password again: this only makes it show a choice of accounts.
    options: ({ loginHint, repeated }) => ({ loginHint, ...(repeated && { prompt: 'select_account' }) }),
  },
  facebook: {
    open: (setup) => new FacebookStrategy(setup),
    // `rerequest`: a user who once withheld the e-mail is asked for it again, or could never sign in.
    options: ({ repeated }) => ({ authType: repeated ? 'reauthenticate' : 'rerequest' }),
    hasTokenInAddress: true,
  },
  amazon: { open: (setup) => new AmazonStrategy(setup) },
  oauth2: { open: (setup) => new PlainStrategy(setup) },
};

const isObject = (value: unknown): value is Claims => typeof value === 'object' && value !== null;

/** A member of a profile. @param path with dots between the names; undefined: the provider has no such member */
const readMember = (claims: Claims, path: string | undefined): unknown =>
  path?.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), claims);

/** The person of a profile, by the names that the provider's entry gives to its members. */
function toPerson(
  { claims: names, emailVerification }: Pick<StandardProvider, 'claims' | 'emailVerification'>,
  claims: Claims,
): Pick<UpstreamIdentity, 'subject' | 'email' | 'emailVerified' | 'givenName' | 'familyName' | 'picture'> {
  const read = (path: string | undefined) => readMember(claims, path);
  return {
    subject: toSubject(read(names.subject)),
    email: toEmail(read(names.email)),
    emailVerified: 'claim' in emailVerification && readFlag(read(emailVerification.claim)) === true,
    ...toNames({ input: read(names.givenName), family: read(names.familyName), whole: read(names.name) }),
    picture: toPictureUrl(read(names.picture)),
  };
}

/** A standard provider, by its entry in the table. Undefined: it has no credentials. */
export function openStandard(
  kind: StandardKind,
  settings: StrategySettings,
  passport: Authenticator,
): Provider | undefined {
  const provider: StandardProvider = standardProviders[kind];
  const { open, options = () => ({}), hasTokenInAddress = false } = clients[provider.client];
  return createOAuth2Provider({
    settings,
    passport,
    kind,
    bearer: !hasTokenInAddress,
    open,
    options,
    person: (claims) => toPerson(provider, claims),
  });
}
