/**
 * The table of the standard providers. Everything about them that is not code of a protocol is derived from it: their
 * variables, addresses, names, buttons and error codes. A new one needs its kind and its entry here; the compiler then
 * names the other places: its strategy (`server/federation/strategies.ts`), its mark
 * (`views/parts/provider-mark.tsx`) and its stand-in (`sandbox/providers/`).
 */

/** They are stored with each link. The order is the one of the configuration. */
export const standardKinds = ['google', 'facebook', 'amazon'] as const;
/** OpenID Connect and SAML providers are in PROVIDERS_FILE. */
export const providerKinds = [...standardKinds, 'oidc', 'saml'] as const;

export type StandardKind = (typeof standardKinds)[number];
export type ProviderKind = (typeof providerKinds)[number];

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
const buttonGroups = ['top', 'separate', 'others'] as const;
export type ButtonGroup = (typeof buttonGroups)[number];

export interface StandardProvider {
  name: string;
  /** Fixed, as OAuth 2.0 has none. */
  issuer: string;
  endpoints: { authorization: string; token: string; profile: string };
  credentials: { id: Credential; secret: Credential };
  /** The variable of one address for all its hosts: a stand-in's, with the same paths. */
  urlVariable: string;
  /** Its name in Amazon Cognito; undefined: Cognito does not have it. */
  cognitoName: string | undefined;
  errors: StandardErrors;
  group: ButtonGroup;
  /** Whether it refuses browsers inside other apps. */
  refusesEmbeddedBrowsers: boolean;
}

/** Each Graph API version is supported for two years after its successor was released. */
export const graphVersion = 'v23.0';

const noOtherErrors = { cancelled: [], wrongCode: [], wrongClient: [] } as const;

export const standardProviders = {
  google: {
    name: 'Google',
    issuer: 'https://accounts.google.com',
    // From Google's discovery document.
    endpoints: {
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
      profile: 'https://openidconnect.googleapis.com/v1/userinfo',
    },
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
  },
  facebook: {
    name: 'Facebook',
    issuer: 'https://www.facebook.com',
    endpoints: {
      authorization: `https://www.facebook.com/${graphVersion}/dialog/oauth`,
      token: `https://graph.facebook.com/${graphVersion}/oauth/access_token`,
      profile: `https://graph.facebook.com/${graphVersion}/me`,
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
  },
  amazon: {
    name: 'Amazon',
    issuer: 'https://www.amazon.com',
    endpoints: {
      authorization: 'https://www.amazon.com/ap/oa',
      token: 'https://api.amazon.com/auth/o2/token',
      profile: 'https://api.amazon.com/user/profile',
    },
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
  },
} as const satisfies Record<StandardKind, StandardProvider>;

/** A record with one value for each item. */
export function toRecord<Item, Name extends string, Value>(
  items: readonly Item[],
  toName: (item: Item) => Name,
  toValue: (item: Item) => Value,
): Record<Name, Value> {
  return Object.fromEntries(items.map((item) => [toName(item), toValue(item)])) as Record<Name, Value>;
}

/** A record with one value for each standard provider. */
export const byStandardKind = <Value>(toValue: (kind: StandardKind) => Value): Record<StandardKind, Value> =>
  toRecord(standardKinds, (kind) => kind, toValue);

/** In the order of the sign-in page: by group, and in a group by name. */
export const standardKindsOnPages: readonly StandardKind[] = buttonGroups.flatMap((group) =>
  standardKinds.filter((kind) => standardProviders[kind].group === group).sort((a, b) => (a < b ? -1 : 1)),
);

/** Both halves of all credentials, each with the name of its provider. */
export const standardCredentials = standardKinds.flatMap((kind) => {
  const { name, credentials } = standardProviders[kind];
  return [
    { ...credentials.id, name },
    { ...credentials.secret, name },
  ];
});

export const standardUrlVariables = standardKinds.map((kind) => standardProviders[kind].urlVariable);

/** The variables of the standard providers. */
export type StandardVariable = (typeof standardCredentials)[number]['variable'] | (typeof standardUrlVariables)[number];

/** The standard providers by their names in Amazon Cognito. */
export const standardKindsByCognitoName: ReadonlyMap<string, StandardKind> = new Map(
  standardKinds.flatMap((kind): [string, StandardKind][] => {
    const { cognitoName }: StandardProvider = standardProviders[kind];
    return cognitoName === undefined ? [] : [[cognitoName, kind]];
  }),
);
