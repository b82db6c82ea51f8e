import {
  buttonGroups,
  type StandardKind,
  type StandardProvider,
  standardKinds,
  standardProviders,
} from './standard-provider-table.ts';

/** The table of the standard providers, and what configuration, product and sandbox derive from it. */

export {
  type ButtonGroup,
  graphVersion,
  type StandardKind,
  type StandardProvider,
  standardKinds,
  standardProviders,
} from './standard-provider-table.ts';

/** OpenID Connect and SAML providers are in PROVIDERS_FILE. */
export const providerKinds = [...standardKinds, 'oidc', 'saml'] as const;
export type ProviderKind = (typeof providerKinds)[number];

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
