import type { Provider, Providers } from './providers.ts';

/** Amazon Cognito's values of `identity_provider` for its own three providers; those of companies are configured. */
const cognitoNames: Readonly<Record<string, Provider['kind']>> = {
  google: 'google',
  facebook: 'facebook',
  loginwithamazon: 'amazon',
};

/** The provider that a client app asks for, by its id or its name at Cognito; case-insensitive. */
export function hintedProvider({ all }: Pick<Providers, 'all'>, hint: string | undefined): Provider | undefined {
  const name = hint?.toLowerCase();
  if (name === undefined) return undefined;
  const kind = Object.hasOwn(cognitoNames, name) ? cognitoNames[name] : undefined;
  return all.find(({ id }) => id.toLowerCase() === name) ?? all.find((provider) => provider.kind === kind);
}
