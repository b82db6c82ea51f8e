import { toNormalisedEmail } from '../support/ids.ts';

/** The addresses, client app and users that both sides of a comparison share. All requests stay on this machine. */
export const host = 'login.example.com';
export const publicUrl = `https://${host}`;
export const redirectUri = 'https://app.example.com/callback';
export const scope = 'openid profile email phone';
export const password = 'correct horse 9';
/** A client secret with 256 bits, like those of `foyer client add`. */
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
  /** The processor time of the whole process, in milliseconds. */
  cpuMs: number;
  /** The part of it that the main thread takes: the thread pool hashes and signs, V8's helpers collect memory. */
  mainMs: number;
  rssBytes: number;
}

export function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const main = process.threadCpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    mainMs: (main.user + main.system) / 1000,
    rssBytes: process.memoryUsage.rss(),
  };
}

/** Every server listens on this machine only. */
export interface Listening {
  port: number;
}

/** The secret of every member's authenticator app, in base32. */
export const authenticatorSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
