/**
 * The table of the standard providers: everything about them that is not code. Variables, checks, buttons, marks,
 * commands, the sandbox's stand-ins and the tables of the docs are derived from it. docs/providers.md says how to add
 * one.
 */

/** They are stored with each link. The order is the one of the configuration. */
export const standardKinds = ['google', 'facebook', 'amazon'] as const;
export type StandardKind = (typeof standardKinds)[number];

/** One half of the credentials that a provider gives. */
interface Credential {
  variable: string;
  /** Its name at the provider. */
  what: string;
  /** The value in config/example.env, which is public: production refuses it. */
  printed: string;
  /** The value at the sandbox's stand-in; worthless elsewhere. */
  standIn: string;
}

/** Error codes besides those of OAuth 2.0. */
interface StandardErrors {
  /** Of the authorization endpoint: the person cancelled (`access_denied`). */
  cancelled: readonly unknown[];
  /** Of the token endpoint: the code is unknown, used, another client's, or its verifier is wrong (`invalid_grant`). */
  wrongCode: readonly unknown[];
  /** Of the token endpoint: it does not accept the credentials (`invalid_client`, `unauthorized_client`). */
  wrongClient: readonly unknown[];
}

/** The groups of buttons on a page: above the form, below it, and in the list of the other ways. */
export const buttonGroups = ['top', 'separate', 'others'] as const;
export type ButtonGroup = (typeof buttonGroups)[number];

/** The members of its profile; a dot leads into an object. */
interface ProfileClaims {
  subject: string;
  email: string;
  givenName?: string;
  familyName?: string;
  /** The whole name. */
  name: string;
  picture?: string;
}

/** The member that confirms an address when it is true; or why none does (for docs/providers.md). */
type EmailVerification = { claim: string } | { none: string };

export interface StandardProvider {
  name: string;
  /** Paths of 24 by 24 units. */
  mark: readonly { fill: string; d: string }[];
  /** Fixed, as OAuth 2.0 has none. */
  issuer: string;
  endpoints: { authorization: string; token: string; profile: string };
  scopes: readonly string[];
  /** Passport's strategy (`server/federation/providers/standard.ts`); `oauth2` has no package of its own. */
  client: 'google' | 'facebook' | 'amazon' | 'oauth2';
  claims: ProfileClaims;
  emailVerification: EmailVerification;
  credentials: { id: Credential; secret: Credential };
  /** The variable of one address for all its hosts: a stand-in's, with the same paths. */
  urlVariable: string;
  /** Its name in Amazon Cognito; undefined: Cognito does not have it. */
  cognitoName: string | undefined;
  errors: StandardErrors;
  group: ButtonGroup;
  /** Whether it refuses browsers inside other apps. */
  refusesEmbeddedBrowsers: boolean;
  /** Where Foyer is registered (for docs/providers.md). */
  registration: string;
}

/** Each Graph API version is supported for two years after its successor was released. */
export const graphVersion = 'v23.0';

const noOtherErrors = { cancelled: [], wrongCode: [], wrongClient: [] } as const;

export const standardProviders = {
  google: {
    name: 'Google',
    mark: [
      {
        fill: '#4285f4',
        d: 'M22.56 12.25c0-.78-.07-1.53-.2-2.25H12v4.26h5.92a5.06 5.06 0 0 1-2.2 3.32v2.77h3.57c2.08-1.92 3.27-4.74 3.27-8.1z',
      },
      {
        fill: '#34a853',
        d: 'M12 23c2.97 0 5.46-.98 7.28-2.66l-3.57-2.77c-.98.66-2.23 1.06-3.71 1.06-2.86 0-5.29-1.93-6.16-4.53H2.18v2.84A11 11 0 0 0 12 23z',
      },
      { fill: '#fbbc05', d: 'M5.84 14.09a6.6 6.6 0 0 1 0-4.18V7.07H2.18a11 11 0 0 0 0 9.86z' },
      {
        fill: '#ea4335',
        d: 'M12 5.38c1.62 0 3.06.56 4.21 1.64l3.15-3.15A11 11 0 0 0 2.18 7.07l3.66 2.84C6.71 7.31 9.14 5.38 12 5.38z',
      },
    ],
    issuer: 'https://accounts.google.com',
    // From Google's discovery document.
    endpoints: {
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
      profile: 'https://openidconnect.googleapis.com/v1/userinfo',
    },
    scopes: ['openid', 'profile', 'email'],
    client: 'google',
    claims: {
      subject: 'sub',
      email: 'email',
      givenName: 'given_name',
      familyName: 'family_name',
      name: 'name',
      picture: 'picture',
    },
    emailVerification: { claim: 'email_verified' },
    credentials: {
      id: {
        variable: 'GOOGLE_CLIENT_ID',
        what: 'client id',
        printed: '123456789012-abc.apps.googleusercontent.com',
        standIn: 'foyer-sandbox.apps.googleusercontent.com',
      },
      secret: {
        variable: 'GOOGLE_CLIENT_SECRET',
        what: 'client secret',
        printed: 'GOCSPX-AbcDef',
        standIn: 'GOCSPX-sandbox',
      },
    },
    urlVariable: 'GOOGLE_URL',
    cognitoName: 'Google',
    errors: noOtherErrors,
    group: 'top',
    refusesEmbeddedBrowsers: true,
    registration:
      'Google Cloud console → Google Auth Platform → Clients: type "Web application"; scopes `openid`, `email`, `profile`',
  },
  facebook: {
    name: 'Facebook',
    mark: [
      { fill: '#1877f2', d: 'M12 0a12 12 0 1 0 0 24 12 12 0 0 0 0-24z' },
      {
        fill: '#fff',
        d: 'm16.67 15.47.53-3.47h-3.33V9.75c0-.95.47-1.87 1.96-1.87h1.51V4.93s-1.37-.24-2.69-.24c-2.74 0-4.53 1.66-4.53 4.67V12H7.08v3.47h3.04v8.39a12.1 12.1 0 0 0 3.75 0v-8.39z',
      },
    ],
    issuer: 'https://www.facebook.com',
    endpoints: {
      authorization: `https://www.facebook.com/${graphVersion}/dialog/oauth`,
      token: `https://graph.facebook.com/${graphVersion}/oauth/access_token`,
      profile: `https://graph.facebook.com/${graphVersion}/me`,
    },
    scopes: ['public_profile', 'email'],
    client: 'facebook',
    claims: {
      subject: 'id',
      email: 'email',
      givenName: 'first_name',
      familyName: 'last_name',
      name: 'name',
      picture: 'picture.data.url',
    },
    // Meta's guide to several sign-in methods asks apps to confirm the address themselves.
    emailVerification: {
      none: 'its profile has no field that says so, and `verified` (gone since Graph API 3.0) was about the account',
    },
    credentials: {
      id: {
        variable: 'FACEBOOK_APP_ID',
        what: 'app id',
        printed: '123456789012345',
        standIn: '100000000000001',
      },
      secret: {
        variable: 'FACEBOOK_APP_SECRET',
        what: 'app secret',
        printed: '0123456789abcdef0123456789abcdef',
        standIn: 'sandbox-of-facebook',
      },
    },
    urlVariable: 'FACEBOOK_URL',
    cognitoName: 'Facebook',
    errors: { cancelled: [], wrongCode: [100], wrongClient: [1, 101] },
    group: 'separate',
    refusesEmbeddedBrowsers: true,
    registration:
      'Meta for Developers → your app → Facebook Login → Settings: "Valid OAuth Redirect URIs", strict mode on',
  },
  amazon: {
    name: 'Amazon',
    mark: [
      {
        fill: '#f90',
        d: 'M.05 18.02c.07-.12.18-.13.35-.02a23.4 23.4 0 0 0 20.31 1.57l.61-.27c.23-.09.39-.04.53.13.11.17.09.34-.13.48-.25.19-.59.41-1 .65a18.8 18.8 0 0 1-15.14 1.15A17.9 17.9 0 0 1 .15 18.4C.08 18.33.02 18.25.02 18.18c0-.05.01-.11.03-.16zm19.43.37c.03-.06.08-.12.13-.17.36-.25.71-.41 1.05-.5.56-.15 1.1-.23 1.61-.24.14-.01.28 0 .41.03.65.06 1.05.17 1.17.33.07.09.1.23.1.39v.15c0 .51-.15 1.11-.43 1.8-.27.69-.66 1.25-1.15 1.68-.08.06-.14.09-.2.09-.03 0-.06 0-.09-.01-.09-.05-.11-.12-.06-.24.54-1.26.8-2.14.8-2.64 0-.15-.03-.27-.08-.34-.15-.17-.55-.26-1.23-.26-.24 0-.53.02-.87.05l-1 .13c-.09 0-.15-.01-.18-.04-.03-.03-.03-.05-.02-.08 0-.02.01-.04.04-.13z',
      },
      {
        fill: 'currentColor',
        d: 'M6.61 11.8c0-1 .25-1.86.74-2.57a5 5 0 0 1 2.04-1.62c.8-.33 1.76-.57 2.92-.72.39-.04 1.03-.1 1.92-.17v-.37c0-.93-.1-1.56-.3-1.88-.31-.43-.79-.65-1.44-.65h-.19a2.2 2.2 0 0 0-1.24.46c-.35.27-.57.63-.67 1.1-.06.3-.21.46-.44.51l-2.52-.32c-.25-.06-.37-.18-.37-.39l.02-.15c.25-1.29.86-2.25 1.82-2.88C9.88 1.52 11 1.16 12.3 1.1h.54c1.65 0 2.95.43 3.89 1.29.14.15.27.3.4.48.13.17.23.32.29.45.07.14.14.33.2.57l.13.51c.03.1.06.3.07.62l.02.55v5.28c0 .38.06.72.17 1.04.1.31.21.54.31.67l.51.67c.09.14.14.26.14.36 0 .12-.06.23-.18.32l-1.96 1.71c-.17.13-.38.15-.63.04a6 6 0 0 1-.53-.5l-.31-.34-.63-.86c-.81.89-1.61 1.44-2.4 1.67-.5.15-1.11.23-1.83.23-1.12 0-2.04-.35-2.76-1.04-.72-.69-1.08-1.67-1.08-2.94zm3.75-.44c0 .57.14 1.02.43 1.36.28.34.67.51 1.15.51l.2-.02.16-.02c.61-.16 1.09-.55 1.43-1.18.16-.28.28-.58.36-.91.08-.32.12-.59.13-.79l.01-1.01v-.54c-.84 0-1.48.06-1.92.18-1.27.36-1.92 1.17-1.92 2.43z',
      },
    ],
    issuer: 'https://www.amazon.com',
    endpoints: {
      authorization: 'https://www.amazon.com/ap/oa',
      token: 'https://api.amazon.com/auth/o2/token',
      profile: 'https://api.amazon.com/user/profile',
    },
    scopes: ['profile'],
    client: 'amazon',
    claims: { subject: 'user_id', email: 'email', name: 'name' },
    emailVerification: { none: 'neither its profile nor its guide says that addresses are confirmed' },
    credentials: {
      id: {
        variable: 'AMAZON_CLIENT_ID',
        what: 'client id',
        printed: 'amzn1.application-oa2-client.abcdef',
        standIn: 'amzn1.application-oa2-client.sandbox',
      },
      secret: {
        variable: 'AMAZON_CLIENT_SECRET',
        what: 'client secret',
        printed: 'amzn1.oa2-cs.v1.abcdef',
        standIn: 'amzn1.oa2-cs.v1.sandbox',
      },
    },
    urlVariable: 'AMAZON_URL',
    cognitoName: 'LoginWithAmazon',
    errors: noOtherErrors,
    group: 'top',
    refusesEmbeddedBrowsers: false,
    registration:
      'Amazon developer console → Login with Amazon → a security profile → Web Settings: "Allowed Return URLs"',
  },
} as const satisfies Record<StandardKind, StandardProvider>;
