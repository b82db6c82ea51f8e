import { toNormalisedEmail } from '../support/ids.ts';
/** What both sides of a comparison agree on: addresses, the client app, the members. Nothing here leaves this machine. */

export const host = 'login.example.com';
export const publicUrl = `https://${host}`;
export const redirectUri = 'https://app.example.com/callback';
export const scope = 'openid profile email phone';
export const password = 'correct horse 9';
/** A client secret with 256 bits, as `foyer client add` makes them. */
export const client = { id: 'bench-app', secret: `foyer_cs_${'bench-only-'.repeat(4)}` };
export const memberEmail = (index: number) => toNormalisedEmail(`member${index}@example.com`);

/** RFC 7636, appendix B. */
export const pkce = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};

/** The paths of both providers: Foyer's. */
export const paths = {
  authorization: '/oauth2/authorize',
  token: '/oauth2/token',
  userinfo: '/oauth2/userInfo',
} as const;

export interface Usage {
  /** Of the whole process, in milliseconds. */
  cpuMs: number;
  rssBytes: number;
}

export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() };
}

/** Where a server listens: always on this machine alone. */
export interface Listening {
  port: number;
}
