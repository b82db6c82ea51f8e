import { standardCredentials, toRecord } from './standard-providers.ts';

/**
 * The example credentials in config/example.env, which are public. Production refuses each of them; `foyer doctor` uses
 * the same list.
 */
export const printedCredentials = {
  SECRET_KEY: 'write-the-output-of-openssl-rand-base64-48-here',
  DATABASE_URL: 'postgres://foyer:password@db.example.com:5432/foyer',
  REDIS_URL: 'redis://redis.example.com:6379',
  SENDGRID_API_KEY: 'SG.write-the-key-here',
  SMTP_URL: 'smtps://user:password@smtp.example.com:465',
  TWILIO_ACCOUNT_SID: 'AC00000000000000000000000000000000',
  TWILIO_AUTH_TOKEN: 'write-the-token-here',
  STRIPE_SECRET_KEY: 'sk_live_51AbcDef',
  STRIPE_PUBLISHABLE_KEY: 'pk_live_51AbcDef',
  STRIPE_WEBHOOK_SECRET: 'whsec_AbcDef',
  ...toRecord(
    standardCredentials,
    ({ variable }) => variable,
    ({ printed }) => printed,
  ),
} as const;

type PrintedName = keyof typeof printedCredentials;

const remedies: Partial<Record<PrintedName, string>> = {
  SECRET_KEY: 'write the output of: openssl rand -base64 48',
};

/** Tests whether a variable has the example value; SECRET_KEY may be a list. */
export function isPrinted(name: PrintedName, value: string | undefined): boolean {
  const printed = printedCredentials[name];
  if (value === undefined) return false;
  return name === 'SECRET_KEY' ? value.split(',').some((key) => key.trim() === printed) : value.trim() === printed;
}

/** One fault for each variable that has the value of config/example.env. */
export function printedFaults(args: Partial<Record<string, string>>): string[] {
  return Object.keys(printedCredentials).flatMap((name) => {
    if (!isPrinted(name as PrintedName, args[name])) return [];
    const remedy = remedies[name as PrintedName] ?? 'write your own';
    return [`${name}: is the value that is printed in config/example.env; ${remedy}`];
  });
}
