import { parseIdentifier } from '../users/index.ts';

/** The longest valid mail address (RFC 5321, section 4.5.3.1.3). */
const maxCharacters = 254;

/** The parameters with which client apps ask for a provider: Amazon Cognito's, and two that other servers have. */
export const providerParameters = ['identity_provider', 'idp_hint', 'kc_idp_hint'] as const;

interface RequestHints {
  /** An address or number for the field of the sign-in form. It proves nothing, and no user is looked up by it. */
  loginHint?: string;
  /** The client app's name of a provider. */
  providerHint?: string;
}

/** The hints of a request to the sign-in page (OpenID Connect Core 1.0, section 3.1.2.1); others are ignored. */
export function toHints(params: Readonly<Record<string, unknown>>): RequestHints {
  const input = (value: unknown) => (typeof value === 'string' && value.length <= maxCharacters ? value.trim() : '');
  // The normalized form, without spaces or control characters.
  const [login] = Object.values(parseIdentifier(input(params.login_hint)) ?? {});
  const provider = providerParameters.map((name) => input(params[name])).find((name) => name !== '');
  return {
    ...(login !== undefined && { loginHint: login }),
    ...(provider !== undefined && { providerHint: provider }),
  };
}
