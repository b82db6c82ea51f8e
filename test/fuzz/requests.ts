import { cookies, headers } from './header-requests.ts';
import { anyRoute, operation, rawJson, shownForm } from './page-requests.ts';
import { jwt, protocol, saml } from './protocol-requests.ts';

/** The kinds of requests, by name. */
export const generators = { anyRoute, shownForm, operation, headers, cookies, rawJson, saml, jwt, protocol } as const;
export type Kind = keyof typeof generators;
export const kinds = Object.keys(generators) as Kind[];
